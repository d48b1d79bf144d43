//! What a registry counts of each handler without an observer: failures by cause, and
//! calls that are pending (L22).

mod support;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::error::FailureCause;
use hooks_runtime::registry::HandlerInfo;
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{BeforeExecute, FailurePolicy, FlowContext, HookRegistry, hook_points, on};
use support::{keep_quiet, poll_once};
use tokio::sync::Notify;

hook_points! {
    /// A page was turned.
    pub void Turned(u32);
    /// Who reads it?
    pub claiming Read(u32) -> u32;
    /// A page is printed.
    pub flow Print(u32) -> u32;
}

const CAUSES: [FailureCause; 4] =
    [FailureCause::Error, FailureCause::Panic, FailureCause::Timeout, FailureCause::NoTimer];

/// Those of calls that an operator's settings keep from being made.
const REFUSED: [FailureCause; 2] = [FailureCause::BreakerOpen, FailureCause::RateLimited];

/// The failures in the order of [`CAUSES`], and their sum.
fn failures(info: &HandlerInfo) -> ([u64; 4], u64) {
    assert_eq!(info.failures_by.iter().count(), CAUSES.len() + REFUSED.len());
    assert_eq!(REFUSED.map(|cause| info.failures_by.of(cause)), [0; 2]);
    assert_eq!(info.failures_by.total(), info.failures);
    (CAUSES.map(|cause| info.failures_by.of(cause)), info.failures)
}

fn in_flight(hooks: &HookRegistry) -> Vec<u64> {
    hooks.handlers().iter().map(|info| info.in_flight).collect()
}

/// Has none, ever.
#[derive(Debug)]
struct NoClock;

impl Timer for NoClock {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }
}

/// By number of the page: an error, a panic, a wait without end, or an answer.
async fn fails(page: &u32) -> Result<Option<u32>, String> {
    match page {
        0 => Err("torn".to_owned()),
        1 => panic!("out of paper"),
        2 => pending().await,
        page => Ok(Some(*page)),
    }
}

#[tokio::test(start_paused = true)]
async fn l22_failures_are_counted_by_cause() {
    keep_quiet(&["out of paper"]);
    let hooks = HookRegistry::new();
    let limit = Duration::from_secs(1);
    hooks.register(on::<Read>().name("reader").timeout(limit).handler(fails)).unwrap();
    for page in [0, 1, 2, 0, 5, 0, 1] {
        let _ = hooks.fire_claiming::<Read>(&page).await.unwrap();
    }
    assert_eq!(failures(&hooks.handlers()[0]), ([3, 2, 1, 0], 6));
    assert_eq!(hooks.handlers()[0].calls, 7);
}

/// Without a limit, without an observer, and under the stricter policy.
#[test]
fn l22_a_failure_that_ends_the_fire_is_counted_by_cause_too() {
    keep_quiet(&["out of paper"]);
    let hooks = HookRegistry::new();
    let closed = on::<Read>().name("reader").on_failure(FailurePolicy::Closed);
    hooks.register(closed.handler(fails)).unwrap();
    block_on(hooks.fire_claiming::<Read>(&0)).unwrap_err();
    block_on(hooks.fire_claiming::<Read>(&1)).unwrap_err();
    let (outcome, _) = block_on(hooks.fire_claiming_reported::<Read>(&1));
    outcome.unwrap_err();
    assert_eq!(failures(&hooks.handlers()[0]), ([1, 2, 0, 0], 3));
}

#[test]
fn l22_a_limit_without_a_timer_and_a_condition_that_panics_have_their_causes() {
    keep_quiet(&["no page"]);
    let hooks = HookRegistry::builder().timer(NoClock).build();
    let limit = Duration::from_secs(1);
    hooks
        .register([
            on::<Turned>()
                .name("waits")
                .timeout(limit)
                .handler(async |_: &u32| pending::<()>().await),
            on::<Turned>()
                .name("asks")
                .when(|page| if *page == 0 { panic!("no page") } else { true })
                .handler(|_: &u32| ()),
        ])
        .unwrap();
    for page in 0..2 {
        block_on(hooks.fire_void::<Turned>(&page)).unwrap();
    }
    let handlers = hooks.handlers();
    assert_eq!(failures(&handlers[0]), ([0, 0, 0, 2], 2));
    assert_eq!(failures(&handlers[1]), ([0, 1, 0, 0], 1));
}

#[test]
fn l22_calls_that_are_pending_are_counted_until_they_end_or_are_dropped() {
    let (hooks, bell) = (HookRegistry::new(), Arc::new(Notify::new()));
    let waits = async |bell: &Arc<Notify>, _: &u32| bell.notified().await;
    hooks
        .register([
            on::<Turned>().name("waits").handler_with(Arc::clone(&bell), waits),
            on::<Turned>().name("is done").handler(async |_: &u32| ()),
        ])
        .unwrap();
    assert_eq!(in_flight(&hooks), [0, 0]);
    let mut first = Box::pin(hooks.fire_void::<Turned>(&1));
    assert!(poll_once(first.as_mut()).is_pending());
    assert_eq!(in_flight(&hooks), [1, 0]);
    // Waiting is counted once, however often it is polled.
    assert!(poll_once(first.as_mut()).is_pending());
    let mut second = Box::pin(hooks.fire_void::<Turned>(&2));
    assert!(poll_once(second.as_mut()).is_pending());
    let mut third = Box::pin(hooks.fire_void_reported::<Turned>(&3));
    assert!(poll_once(third.as_mut()).is_pending());
    assert_eq!(in_flight(&hooks), [3, 0]);
    drop(second);
    assert_eq!(in_flight(&hooks), [2, 0]);
    bell.notify_waiters();
    assert!(poll_once(first.as_mut()).is_ready());
    assert_eq!(in_flight(&hooks), [1, 0]);
    assert!(poll_once(third.as_mut()).is_ready());
    assert_eq!(in_flight(&hooks), [0, 0]);
}

/// Counted on one thread and taken back on another, by more threads than have a count
/// of their own: at no moment are there more than there are calls, or less than none.
#[test]
fn l22_calls_in_flight_add_up_across_threads() {
    const THREADS: u64 = 12;
    let hooks = HookRegistry::new();
    hooks.register(on::<Turned>().handler(async |_: &u32| pending::<()>().await)).unwrap();
    let begun: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let hooks = hooks.clone();
                scope.spawn(move || {
                    let mut fire = Box::pin(async move { hooks.fire_void::<Turned>(&1).await });
                    assert!(poll_once(fire.as_mut()).is_pending());
                    fire
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(in_flight(&hooks), [THREADS]);
    std::thread::scope(|scope| {
        for fire in begun {
            let hooks = &hooks;
            scope.spawn(move || {
                drop(fire);
                assert!(in_flight(hooks)[0] < THREADS);
            });
        }
    });
    assert_eq!(in_flight(&hooks), [0]);
}

#[test]
fn l22_a_stage_that_waits_is_in_flight() {
    let hooks = HookRegistry::new();
    let waits = async |_: &mut FlowContext<Print>| pending::<()>().await;
    hooks.register(on::<BeforeExecute<Print>>().handler(waits)).unwrap();
    let mut run = Box::pin(hooks.run_flow::<Print, _>(1, async |n| Ok::<_, String>(n)));
    assert!(poll_once(run.as_mut()).is_pending());
    assert_eq!(in_flight(&hooks), [1]);
    drop(run);
    assert_eq!(in_flight(&hooks), [0]);
}
