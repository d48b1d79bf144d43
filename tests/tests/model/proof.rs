//! Takes a case through both registries and compares them step by step.

use std::cell::Cell;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestRunner};

use crate::event::Event;
use crate::log;
use crate::plan::Spot;
use crate::real;
use crate::reference::{Reference, name_of};
use crate::reference_order::{CIRCLE, NO_ORDER};
use crate::strategies::Plan;
use crate::world::World;

/// Tries `cases` plans at random, or as many times a hundredth of that as
/// `PROPTEST_CASES` says, and prints what they covered.
pub fn prove(what: &str, cases: u32, plans: impl Strategy<Value = Plan>) {
    let covered = Covered::default();
    let cases = quietly(cases, plans, |plan| check_counting(&plan, &covered));
    println!("\nproof: reference model, {what}: {cases} cases, {covered}");
}

/// Tries that many values at random; only the smallest that fails is reported. How many it
/// were.
pub fn quietly<S: Strategy>(cases: u32, values: S, check: impl Fn(S::Value)) -> u32 {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|asked| asked.parse().ok());
    let cases = asked.map_or(cases, |asked: u32| (asked.saturating_mul(cases) / 100).max(1));
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 4096, ..Config::default() };
    keep_quiet();
    TRYING.set(true);
    let proved = TestRunner::new(config).run(&values, |value| {
        check(value);
        Ok(())
    });
    TRYING.set(false);
    if let Err(failed) = proved {
        panic!("{failed}");
    }
    cases
}

/// Takes one case through both.
pub fn check(plan: &Plan) {
    check_counting(plan, &Covered::default());
}

fn check_counting(plan: &Plan, covered: &Covered) {
    keep_quiet();
    // Every other case is traced by an operator as well, and every third is recorded.
    let (traced, recorded) =
        (plan.steps.len().is_multiple_of(2), plan.steps.len().is_multiple_of(3));
    let world = World::new(plan.timer, plan.observed, traced, recorded);
    // After that: the trace itself is in the log.
    log::listen();
    let mut reference = Reference::new(plan.timer, plan.observed);
    for (number, op) in plan.steps.iter().enumerate() {
        let came = world.step(op);
        let names = world.names.lock().unwrap().clone();
        let expected = reference.step(op, &names);
        covered.count(&came);
        let hooks = world.hooks();
        let mut failures = std::mem::take(&mut reference.logged);
        failures.sort();
        assert_same(&came, &expected, || format!("step {number}, {op:?}"));
        for spot in Spot::ALL {
            let (listed, expected) = (real::listed(&hooks, spot), reference.listed(spot));
            assert_each(&listed, &expected, || format!("{} after step {number}", name_of(spot)));
        }
        let mut observed = std::mem::take(&mut reference.observed);
        observed.sort();
        assert_each(&world.spy.take(), &observed, || format!("observed in step {number}, {op:?}"));
        assert_each(&log::take(), &failures, || format!("the log after step {number}"));
        assert_eq!(real::audited(&hooks), reference.audited(), "audit after step {number}");
    }
    if let Some(recorded) = world.recorded.lock().unwrap().take() {
        covered.recorded.fetch_add(recorded.check(), Ordering::Relaxed);
    }
    // Nothing that a handler holds outlives the registry.
    world.hooks.lock().unwrap().take();
    world.scopes.lock().unwrap().clear();
    world.installed.lock().unwrap().clear();
    assert_eq!(Arc::strong_count(&world), 1, "L25: a handler was leaked");
    for handle in world.handles.lock().unwrap().iter() {
        assert_eq!(handle.unregister().removed(), 0, "L17: the registry is gone");
    }
}

fn assert_same(came: &[Event], expected: &[Event], at: impl Fn() -> String) {
    for (place, (came, expected)) in came.iter().zip(expected).enumerate() {
        assert!(
            same(came, expected),
            "at {}, event {place}:\n  came     {came:?}\n  expected {expected:?}",
            at(),
        );
    }
    let (longer, whose) =
        if came.len() > expected.len() { (came, "came") } else { (expected, "expected") };
    let first = longer.get(came.len().min(expected.len()));
    assert!(first.is_none(), "at {}: {whose} further {first:?}", at());
}

fn assert_each<T: PartialEq + Debug>(came: &[T], expected: &[T], at: impl Fn() -> String) {
    assert!(came == expected, "{}:\n  came     {came:#?}\n  expected {expected:#?}", at());
}

/// Where several points refuse an order, the reference does not know which is
/// looked at first; and of a circle it only knows where it is.
fn same(came: &Event, expected: &Event) -> bool {
    let (Event::Did { what: came_to, .. }, Event::Did { what, .. }) = (came, expected) else {
        return came == expected;
    };
    let Some(refusals) = what.strip_prefix(NO_ORDER) else { return came == expected };
    refusals.lines().any(|refusal| match refusal.strip_prefix(CIRCLE) {
        None => came_to == refusal,
        Some(point) => {
            let told = format!("the order of the handlers at `{point}` is circular: ");
            let advice = "; leave out one `before` or `after` of them";
            let path = came_to.strip_prefix(&told).and_then(|path| path.strip_suffix(advice));
            let guards = "; guards run after all rewriters";
            let path = path.map(|path| path.strip_suffix(guards).unwrap_or(path).split(" > "));
            let path: Vec<_> = path.into_iter().flatten().collect();
            path.len() > 2 && path.first() == path.last()
        }
    })
}

/// What the cases of one property covered.
#[derive(Default)]
struct Covered {
    steps: AtomicU64,
    calls: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
    recovered: AtomicU64,
    recorded: AtomicU64,
}

impl Covered {
    fn count(&self, events: &[Event]) {
        let add = |count: &AtomicU64, wanted: fn(&Event) -> bool| {
            let found = events.iter().filter(|event| wanted(event)).count();
            count.fetch_add(found as u64, Ordering::Relaxed);
        };
        add(&self.steps, |event| matches!(event, Event::Did { .. }));
        add(&self.calls, |event| matches!(event, Event::Start { .. }));
        add(&self.dropped, |event| matches!(event, Event::Did { what, .. } if what == "dropped"));
        add(
            &self.failed,
            |event| matches!(event, Event::Did { what, .. } if what.starts_with("handler `")),
        );
        add(&self.recovered, |event| {
            let Event::Did { report, .. } = event else { return false };
            report.iter().any(|(line, _)| line.starts_with("recovered by"))
        });
    }
}

impl std::fmt::Display for Covered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [steps, calls, dropped, failed, recovered] =
            [&self.steps, &self.calls, &self.dropped, &self.failed, &self.recovered]
                .map(|count| count.load(Ordering::Relaxed));
        write!(f, "{steps} steps, {calls} calls, {dropped} dropped and {failed} failed fires")?;
        if recovered > 0 {
            write!(f, ", {recovered} reported recoveries")?;
        }
        write!(f, ", {} fires recorded", self.recorded.load(Ordering::Relaxed))
    }
}

thread_local! {
    /// Whether this thread tries plans: only the smallest that fails is reported.
    static TRYING: Cell<bool> = const { Cell::new(false) };
}

/// The panics of handlers are part of the plan and need not be printed.
fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            let planned = payload.downcast_ref::<&str>().is_some_and(|text| *text == "boom")
                || payload.downcast_ref::<String>().is_some_and(|text| text == "boom")
                || payload.is::<u32>();
            if !planned && !TRYING.get() {
                loud(panic);
            }
        }));
    });
}
