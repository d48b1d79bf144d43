//! Traces that begin and end while points are fired for the first time: none is missed,
//! and none is left marked.
#![cfg(schedules)]

use hooks_runtime::operator::{TraceEnd, TraceFilter, TraceLimit};
use hooks_runtime::{HookRegistry, hook_points, on};
use hooks_schedules::{Log, delay, explore};
use shuttle::future::block_on;
use shuttle::thread;

hook_points! {
    claiming Asked(Log) -> u32;
}

fn fire(hooks: &HookRegistry) {
    assert!(!block_on(hooks.fire_claiming::<Asked>(&Log::default())).unwrap().is_claimed());
}

#[test]
fn a_fire_that_begins_after_a_trace_is_part_of_it() {
    explore("a trace that begins while a point is fired for the first time", || {
        let hooks = HookRegistry::new();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire(&firing));
        delay();
        let trace =
            hooks.operator().trace(TraceFilter::at::<Asked>(), TraceLimit::count(9)).unwrap();
        hooks.register(on::<Asked>().handler(|_: &Log| None::<u32>)).unwrap();
        fire(&hooks);
        fires.join().unwrap();
        // Its own for sure, and the other one if that began later.
        assert!((1..=2).contains(&trace.seen()), "{}", trace.seen());
        drop(trace);
        assert!(hooks.operator().traces().is_empty());
        fire(&hooks);
    });
}

#[test]
fn a_trace_that_ends_by_its_limit_ends_once() {
    explore("two fires that reach the limit of a trace", || {
        let hooks = HookRegistry::new();
        hooks.register(on::<Asked>().handler(|_: &Log| None::<u32>)).unwrap();
        let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(1)).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire(&firing));
        fire(&hooks);
        fires.join().unwrap();
        assert_eq!((trace.seen(), trace.ended()), (1, Some(TraceEnd::Limit)));
        assert!(block_on(trace.next()).is_some());
        assert!(block_on(trace.next()).is_none());
        assert!(hooks.operator().traces().is_empty());
    });
}

#[test]
fn what_a_trace_has_seen_is_there() {
    explore("two fires of which one ends the trace", || {
        let hooks = HookRegistry::new();
        let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(2)).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire(&firing));
        fire(&hooks);
        fires.join().unwrap();
        assert_eq!((trace.seen(), trace.dropped()), (2, 0));
        assert!(trace.try_next().is_some() && trace.try_next().is_some());
    });
}

#[test]
fn the_one_that_waits_is_woken() {
    explore("a fire, or the end of the trace, while the next fire is waited for", || {
        let hooks = HookRegistry::new();
        let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire(&firing));
        assert!(block_on(trace.next()).is_some());
        fires.join().unwrap();
        let last = thread::spawn(move || drop(hooks));
        assert!(block_on(trace.next()).is_none());
        last.join().unwrap();
        assert_eq!(trace.ended(), Some(TraceEnd::RegistryDropped));
    });
}
