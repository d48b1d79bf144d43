//! Settings of an operator that change while fires run: each fire has all of a change or
//! nothing of it, from its beginning to its end.
#![cfg(schedules)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hooks_runtime::operator::{BreakerSettings, Mode};
use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use hooks_schedules::{Log, delay, explore};
use shuttle::future::{block_on, yield_now};
use shuttle::thread;

hook_points! {
    claiming Asked(Log) -> u32;
}

/// A handler that counts its calls, and suspends in each.
fn counted(name: &'static str, calls: &Arc<AtomicU64>) -> Registration {
    on::<Asked>().name(name).plugin("audit").handler_with(
        Arc::clone(calls),
        async |calls: &Arc<AtomicU64>, _: &Log| {
            yield_now().await;
            calls.fetch_add(1, Relaxed);
            None::<u32>
        },
    )
}

fn fire(hooks: &HookRegistry) {
    assert!(!block_on(hooks.fire_claiming::<Asked>(&Log::default())).unwrap().is_claimed());
}

#[test]
fn l34_a_fire_has_all_of_a_setting_or_nothing_of_it() {
    explore("a setting that is applied and cleared while fires run", || {
        let (hooks, first, last) = (HookRegistry::new(), Arc::default(), Arc::default());
        hooks.register([counted("first", &first), counted("last", &last)]).unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || {
            fire(&firing);
            fire(&firing);
        });
        delay();
        let operator = hooks.operator();
        let setting = operator.disable("asked:audit/*").apply().unwrap();
        delay();
        // A handler that comes meanwhile is under it from its first fire on.
        let late = Arc::default();
        hooks.register(counted("late", &late)).unwrap();
        operator.clear(setting.id()).unwrap();
        fires.join().unwrap();
        let (first, last) = (first.load(Relaxed), last.load(Relaxed));
        assert_eq!(first, last, "both are disabled, or neither");
        assert!(late.load(Relaxed) <= first);
        let handlers = hooks.handlers_at::<Asked>();
        assert_eq!(handlers[0].calls, first);
        assert_eq!(handlers[0].skips.total() + first, 2);
        assert!(handlers.iter().all(|handler| handler.mode == Mode::Enforce));
    });
}

#[test]
fn l35_a_permit_comes_back_whatever_becomes_of_its_setting() {
    explore("a breaker's setting that is cleared while its handler is called", || {
        let (hooks, calls) = (HookRegistry::new(), Arc::default());
        hooks.register(counted("one", &calls)).unwrap();
        let operator = hooks.operator();
        let breaker = || BreakerSettings::consecutive(1);
        let setting = operator.breaker("asked:audit/one", breaker()).apply().unwrap();
        let firing = hooks.clone();
        let fires = thread::spawn(move || fire(&firing));
        delay();
        operator.clear(setting.id()).unwrap();
        operator.breaker("asked:audit/one", breaker()).apply().unwrap();
        fire(&hooks);
        fires.join().unwrap();
        assert_eq!((calls.load(Relaxed), hooks.handlers()[0].calls), (2, 2));
        assert_eq!(hooks.handlers()[0].in_flight, 0);
    });
}
