//! Circuit breakers of handlers (L35): an open one is a failure under the policy, and a
//! decision is a success.

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_runtime::observe::{ObservedHandler, Observer};
use hooks_runtime::operator::{BreakerSettings, BreakerState, Transition, TransitionCounts};
use hooks_runtime::{Gate, HookRegistry, Judgement, hook_points, on};

hook_points! {
    pub gating Send(u32);
    #[hook(on_failure = "open")]
    pub gating Lax(u32);
    pub void Noted(u32);
}

const SECOND: Duration = Duration::from_secs(1);

/// What a handler does next: 0 passes, 1 rejects, 2 fails, 3 waits for ever.
#[derive(Clone, Default)]
struct Next(Arc<AtomicU32>);

impl Next {
    fn set(&self, next: u32) {
        self.0.store(next, Ordering::SeqCst);
    }
}

/// A wait that ends with the value of `Next` when it is no longer 3.
struct Answer(Next);

impl Future for Answer {
    type Output = Result<Judgement, &'static str>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        match self.0.0.load(Ordering::SeqCst) {
            0 => Poll::Ready(Ok(Judgement::Pass)),
            1 => Poll::Ready(Ok(Judgement::reject("no"))),
            2 => Poll::Ready(Err("down")),
            _ => Poll::Pending,
        }
    }
}

#[derive(Debug, Default, Clone)]
struct Transitions(Arc<Mutex<Vec<String>>>);

impl Transitions {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Observer for Transitions {
    fn breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        self.0.lock().unwrap().push(format!("{}: {transition}", handler.handler()));
    }

    fn shadow_breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        self.0.lock().unwrap().push(format!("{} would: {transition}", handler.address()));
    }

    fn all_breakers_open(&self, point: &'static str) {
        self.0.lock().unwrap().push(format!("{point}: all open"));
    }
}

fn guarded() -> (HookRegistry, Next, Transitions) {
    let (next, seen) = (Next::default(), Transitions::default());
    let hooks = HookRegistry::builder().observer(seen.clone()).build();
    let guard = on::<Send>().name("guard");
    hooks
        .register(
            guard.guard_with(next.clone(), async |next: &Next, _: &u32| Answer(next.clone()).await),
        )
        .unwrap();
    (hooks, next, seen)
}

async fn fire(hooks: &HookRegistry) -> String {
    match hooks.fire_gating::<Send>(1).await {
        Ok(Gate::Passed(_)) => "passed".to_owned(),
        Ok(Gate::Rejected(_)) => "rejected".to_owned(),
        Err(error) => error.failure().unwrap().kind().to_string(),
    }
}

#[tokio::test(start_paused = true)]
async fn l35_a_breaker_opens_probes_and_closes() {
    let (hooks, next, seen) = guarded();
    let operator = hooks.operator();
    let settings = BreakerSettings::consecutive(3).open_for(10 * SECOND);
    operator.breaker("send:guard", settings).apply().unwrap();
    let state = || hooks.handlers()[0].breaker.unwrap();

    next.set(2);
    assert_eq!(fire(&hooks).await, "down");
    assert_eq!(fire(&hooks).await, "down");
    assert_eq!(state(), BreakerState::Closed);
    // A rejection is a decision: the row begins anew.
    next.set(1);
    assert_eq!(fire(&hooks).await, "rejected");
    next.set(2);
    for _ in 0..3 {
        assert_eq!(fire(&hooks).await, "down");
    }
    assert_eq!(
        (state(), seen.take()),
        (BreakerState::Open, vec!["guard: closed to open".to_owned(), "send: all open".to_owned()])
    );

    // Open: the gate rejects nothing and passes nothing; it fails, without a call.
    let calls = hooks.handlers()[0].calls;
    tokio::time::advance(4 * SECOND).await;
    assert_eq!(fire(&hooks).await, "not called: its circuit breaker is open for another 6s");
    assert_eq!(hooks.handlers()[0].calls, calls);

    // A probe that fails opens it again.
    tokio::time::advance(7 * SECOND).await;
    assert_eq!(state(), BreakerState::HalfOpen);
    assert_eq!(fire(&hooks).await, "down");
    assert_eq!(
        seen.take(),
        ["guard: open to half-open", "guard: half-open to open", "send: all open"]
    );

    // One that succeeds closes it; what was counted before is forgotten.
    tokio::time::advance(11 * SECOND).await;
    next.set(1);
    assert_eq!(fire(&hooks).await, "rejected");
    assert_eq!(seen.take(), ["guard: open to half-open", "guard: half-open to closed"]);
    next.set(2);
    assert_eq!(fire(&hooks).await, "down");
    assert_eq!(state(), BreakerState::Closed);
    assert_eq!(
        hooks.handlers()[0].breaker_transitions,
        TransitionCounts { opened: 2, half_opened: 2, closed: 1 },
    );
}

#[tokio::test(start_paused = true)]
async fn l35_one_probe_at_a_time_and_its_permit_comes_back_with_a_dropped_fire() {
    let (hooks, next, seen) = guarded();
    let settings = BreakerSettings::consecutive(1).open_for(SECOND);
    hooks.operator().breaker("send:guard", settings).apply().unwrap();
    next.set(2);
    fire(&hooks).await;
    tokio::time::advance(2 * SECOND).await;

    next.set(3);
    let mut probe = Box::pin(hooks.fire_gating::<Send>(1));
    assert!(futures::poll!(probe.as_mut()).is_pending());
    for _ in 0..3 {
        assert_eq!(
            fire(&hooks).await,
            "not called: its circuit breaker waits for the call that tries it"
        );
    }
    drop(probe);
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::HalfOpen));
    next.set(0);
    assert_eq!(fire(&hooks).await, "passed");
    assert_eq!(
        seen.take(),
        [
            "guard: closed to open",
            "send: all open",
            "guard: open to half-open",
            "guard: half-open to closed"
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn l35_a_probe_that_times_out_opens_it_again() {
    let (hooks, next, seen) = guarded();
    let operator = hooks.operator();
    operator
        .breaker("send:guard", BreakerSettings::consecutive(1).open_for(SECOND))
        .apply()
        .unwrap();
    operator.time_limit("send:guard", SECOND).apply().unwrap();
    next.set(3);
    assert_eq!(fire(&hooks).await, "did not finish within 1s");
    tokio::time::advance(2 * SECOND).await;
    assert_eq!(fire(&hooks).await, "did not finish within 1s");
    assert_eq!(
        seen.take(),
        [
            "guard: closed to open",
            "send: all open",
            "guard: open to half-open",
            "guard: half-open to open",
            "send: all open"
        ],
    );
}

/// A result that comes after the breaker has opened says nothing of the handler of today.
#[tokio::test(start_paused = true)]
async fn l35_a_late_result_is_ignored() {
    let (hooks, next, seen) = guarded();
    let settings = BreakerSettings::consecutive(1).open_for(SECOND);
    hooks.operator().breaker("send:guard", settings).apply().unwrap();
    next.set(3);
    let mut early = Box::pin(hooks.fire_gating::<Send>(1));
    assert!(futures::poll!(early.as_mut()).is_pending());
    next.set(2);
    fire(&hooks).await;
    next.set(0);
    assert!(early.await.is_ok());
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Open));
    assert_eq!(seen.take(), ["guard: closed to open", "send: all open"]);
}

#[tokio::test(start_paused = true)]
async fn l35_a_rate_of_failures_over_a_window() {
    let (hooks, next, seen) = guarded();
    let settings = BreakerSettings::rate(50).over(10 * SECOND).at_least(4).open_for(SECOND);
    hooks.operator().breaker("send:guard", settings).apply().unwrap();
    for step in [2, 0, 0] {
        next.set(step);
        fire(&hooks).await;
    }
    tokio::time::advance(10 * SECOND).await; // a new window
    for step in [2, 0, 0] {
        next.set(step);
        fire(&hooks).await;
    }
    assert_eq!(seen.take(), Vec::<String>::new());
    next.set(2);
    fire(&hooks).await;
    assert_eq!(seen.take(), ["guard: closed to open", "send: all open"]);
}

#[tokio::test(start_paused = true)]
async fn l35_forced_states_hold_until_their_end() {
    let (hooks, next, _) = guarded();
    let operator = hooks.operator();
    operator.breaker("send:guard", BreakerSettings::consecutive(1)).apply().unwrap();
    operator
        .force_breaker("send:guard", BreakerState::Open)
        .by("ops")
        .until(SECOND)
        .apply()
        .unwrap();
    assert_eq!(fire(&hooks).await, "not called: an operator has forced its circuit breaker open");
    tokio::time::advance(SECOND).await;
    assert_eq!(fire(&hooks).await, "passed");
    operator.force_breaker("send:guard", BreakerState::Closed).until(SECOND).apply().unwrap();
    next.set(2);
    for _ in 0..3 {
        assert_eq!(fire(&hooks).await, "down");
    }
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Closed));
    tokio::time::advance(SECOND).await;
    assert_eq!(fire(&hooks).await, "down");
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Open));
    assert_eq!(operator.reset_breaker("send:*"), Ok(1));
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Closed));
}

#[tokio::test(start_paused = true)]
async fn l35_a_breaker_in_shadow_only_counts() {
    let (hooks, next, seen) = guarded();
    let settings = BreakerSettings::consecutive(1).open_for(SECOND).shadow();
    hooks.operator().breaker("send:guard", settings).apply().unwrap();
    next.set(2);
    for _ in 0..3 {
        assert_eq!(fire(&hooks).await, "down");
    }
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Open));
    assert!(hooks.handlers()[0].breaker_is_shadow);
    assert_eq!(seen.take(), ["send:guard would: closed to open"]);
}

/// On a gate that fails open an open breaker needs the break-glass form, and then lets
/// payloads pass, reported as a failure.
#[tokio::test(start_paused = true)]
async fn l35_the_policy_decides_on_an_open_breaker() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Lax>().name("guard").guard(|_: &u32| Judgement::reject("no"))).unwrap();
    let operator = hooks.operator();
    let open = || operator.force_breaker("lax:guard", BreakerState::Open);
    assert!(open().apply().is_err());
    let closed = open().fail_closed().apply().unwrap();
    assert!(hooks.fire_gating::<Lax>(1).await.is_err());
    operator.clear(closed.id()).unwrap();
    open().break_glass("the list is wrong").until(SECOND).apply().unwrap();
    let (gate, report) = hooks.fire_gating_reported::<Lax>(1).await;
    assert!(matches!(gate.unwrap(), Gate::Passed(1)));
    assert_eq!(
        report.handlers()[0].status().to_string(),
        "breaker_open, fail-open: not called: an operator has forced its circuit breaker open",
    );
}

/// A handler that is removed or replaced loses its breaker; another begins afresh.
#[tokio::test(start_paused = true)]
async fn l35_a_new_handler_has_a_new_breaker() {
    let hooks = HookRegistry::new();
    let failing = || on::<Noted>().name("h").handler(|_: &u32| Err("down"));
    let handle = hooks.register(failing()).unwrap();
    hooks.operator().breaker("noted:h", BreakerSettings::consecutive(1)).apply().unwrap();
    hooks.fire_void::<Noted>(&1).await.unwrap();
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Open));
    handle.unregister();
    hooks.register(failing()).unwrap();
    assert_eq!(hooks.handlers()[0].breaker, Some(BreakerState::Closed));
}

/// The alarm of a point comes with the last breaker that opens, not before.
#[tokio::test(start_paused = true)]
async fn l35_a_point_whose_breakers_are_all_open_raises_an_alarm() {
    let seen = Transitions::default();
    let hooks = HookRegistry::builder().observer(seen.clone()).build();
    for (name, from) in [("one", 0), ("two", 2)] {
        let failing = move |n: &u32| if *n >= from { Err("down") } else { Ok(()) };
        hooks.register(on::<Noted>().name(name).handler(failing)).unwrap();
    }
    hooks.register(on::<Noted>().name("watched").handler(|_: &u32| ())).unwrap();
    hooks.register(on::<Noted>().name("plain").handler(|_: &u32| ())).unwrap();
    let operator = hooks.operator();
    for target in ["noted:one", "noted:two"] {
        operator.breaker(target, BreakerSettings::consecutive(1)).apply().unwrap();
    }
    operator.breaker("noted:watched", BreakerSettings::consecutive(1).shadow()).apply().unwrap();
    hooks.fire_void::<Noted>(&1).await.unwrap();
    assert_eq!(seen.take(), ["one: closed to open"]);
    hooks.fire_void::<Noted>(&2).await.unwrap();
    assert_eq!(seen.take(), ["two: closed to open", "noted: all open"]);
    // One breaker of several handlers says nothing of the point.
    let one = HookRegistry::builder().observer(seen.clone()).build();
    one.register(on::<Noted>().name("one").handler(|_: &u32| Err("down"))).unwrap();
    one.register(on::<Noted>().name("plain").handler(|_: &u32| ())).unwrap();
    one.operator().breaker("noted:one", BreakerSettings::consecutive(1)).apply().unwrap();
    one.fire_void::<Noted>(&1).await.unwrap();
    assert_eq!(seen.take(), ["one: closed to open"]);
}
