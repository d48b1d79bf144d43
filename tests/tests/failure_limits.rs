//! Time limits (L14): who sets them, what comes too late, and what happens where
//! there is no clock to measure them with.

mod support;

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use hooks_points::lifecycle::{BeforeInbound, BeforeInboundPayload};
use hooks_runtime::error::FailureKind;
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{
    Claim, FailurePolicy, FireError, HookRegistry, RegisterError, Verdict, hook_points, on,
};
use support::{keep_quiet, poll_once};

use FailurePolicy::Closed;

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
    /// Routes.
    pub claiming Route { n: u32 } -> &'static str;
    /// Tells within two seconds.
    #[hook(timeout = "2s")]
    pub void Brief { n: u32 }
}

/// Keeps its thread busy until that much time has passed.
fn block(time: Duration) {
    let since = Instant::now();
    while since.elapsed() <= time {
        std::hint::spin_loop();
    }
}

/// It answered, so its answer counts; how late it was is in the report.
#[tokio::test]
async fn l14_a_handler_that_blocks_past_its_limit_is_reported_when_it_returns() {
    let limit = Duration::from_millis(2);
    let hooks = HookRegistry::new();
    let claims = |name| on::<Route>().name(name).timeout(limit);
    hooks
        .register([
            claims("sync").handler(move |_: &RoutePayload| {
                block(limit);
                None
            }),
            claims("async").handler(async move |_: &RoutePayload| {
                tokio::task::yield_now().await;
                block(Duration::from_millis(2));
                Some("async")
            }),
            claims("prompt").handler(|_: &RoutePayload| Some("prompt")),
        ])
        .unwrap();
    let (claim, report) = hooks.fire_claiming_reported::<Route>(&RoutePayload { n: 1 }).await;
    assert_eq!(claim.unwrap(), Claim::Claimed("async"));
    let rows = report.handlers().iter();
    let rows: Vec<_> = rows.map(|row| (row.status().to_string(), row.overrun())).collect();
    for ((status, overrun), expected) in rows.iter().zip(["ran", "claimed"]) {
        assert_eq!(status, expected);
        assert!(overrun.is_some_and(|over| !over.is_zero()), "{overrun:?}");
    }
    assert_eq!(rows[2], ("not called: an earlier handler claimed".to_owned(), None));
    let text = report.to_string();
    assert_eq!(text.matches("after its time limit)").count(), 2, "{text}");
}

/// The same without a report, in the loop that all handlers share.
#[tokio::test]
async fn l14_what_a_late_handler_says_counts() {
    let limit = Duration::from_millis(2);
    let hooks = HookRegistry::new();
    let late = |_: &RoutePayload| {
        block(Duration::from_millis(2));
        Some("late")
    };
    let tells = |_: &TellPayload| block(Duration::from_millis(2));
    hooks
        .register([
            on::<Route>().plugin("slow").timeout(limit).handler(late),
            on::<Route>().handler(|_: &RoutePayload| Some("prompt")),
            on::<Tell>().name("tells").timeout(limit).on_failure(Closed).handler(tells),
        ])
        .unwrap();
    let claim = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap();
    assert_eq!(claim, Claim::Claimed("late"));
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    let counts =
        |info: &hooks_runtime::registry::HandlerInfo| (info.calls, info.failures, info.overruns);
    let route: Vec<_> = hooks.handlers_at::<Route>().iter().map(counts).collect();
    assert_eq!(route, [(1, 0, 1), (0, 0, 0)]);
    assert_eq!(counts(&hooks.handlers_at::<Tell>()[0]), (1, 0, 1));
    let removal = hooks.unregister_plugin("slow");
    assert_eq!(removal.running(), [""; 0], "a late call has ended too");
}

/// It failed, as its row says: it did not also answer late, though all of its time
/// had passed by then.
#[tokio::test]
async fn l14_a_call_that_was_given_up_is_not_late() {
    let limit = Duration::from_millis(2);
    let hooks = HookRegistry::new();
    let stuck = on::<Tell>().name("stuck").timeout(limit).handler(async |_: &TellPayload| {
        block(Duration::from_millis(2));
        std::future::pending::<()>().await;
    });
    hooks.register(stuck).unwrap();
    let (told, report) = hooks.fire_void_reported::<Tell>(&TellPayload { n: 1 }).await;
    told.unwrap();
    let row = &report.handlers()[0];
    assert_eq!(row.status().to_string(), "timeout, fail-open: did not finish within 2ms");
    assert_eq!(row.overrun(), None);
    let info = &hooks.handlers_at::<Tell>()[0];
    assert_eq!((info.calls, info.failures, info.overruns), (1, 1, 0));
}

async fn a_year() {
    tokio::time::sleep(Duration::from_secs(365 * 24 * 60 * 60)).await;
}

#[tokio::test(start_paused = true)]
async fn l14_no_limit_unless_one_is_set() {
    let hooks = HookRegistry::new();
    let patient = on::<Tell>().on_failure(Closed).handler(async |_: &TellPayload| a_year().await);
    hooks.register(patient).unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn l14_the_handlers_limit_then_the_points_then_the_registrys() {
    let hooks = HookRegistry::builder().timeout(Duration::from_secs(3)).build();
    hooks
        .register([
            on::<Tell>().on_failure(Closed).handler(async |_: &TellPayload| a_year().await),
            on::<Brief>().on_failure(Closed).handler(async |_: &BriefPayload| a_year().await),
        ])
        .unwrap();
    let limit = |error: FireError| match error.failure().unwrap().kind() {
        FailureKind::TimedOut(limit) => limit.as_secs(),
        other => panic!("{other}"),
    };
    let since = tokio::time::Instant::now();
    assert_eq!(limit(hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err()), 3);
    assert_eq!(limit(hooks.fire_void::<Brief>(&BriefPayload { n: 1 }).await.unwrap_err()), 2);
    hooks
        .register(
            on::<Brief>()
                .priority(-1)
                .timeout(Duration::from_secs(9))
                .on_failure(Closed)
                .handler(async |_: &BriefPayload| a_year().await),
        )
        .unwrap();
    assert_eq!(limit(hooks.fire_void::<Brief>(&BriefPayload { n: 1 }).await.unwrap_err()), 9);
    let waited = since.elapsed();
    assert_eq!(waited.as_secs(), 3 + 2 + 9, "each waited as long as it said");
}

#[tokio::test(start_paused = true)]
async fn l14_the_lifecycle_points_give_five_seconds() {
    let hooks = HookRegistry::new();
    let stuck = on::<BeforeInbound>().name("stuck").on_failure(Closed);
    hooks
        .register(stuck.guard(async |_: &BeforeInboundPayload| {
            a_year().await;
            Verdict::Pass
        }))
        .unwrap();
    let payload: BeforeInboundPayload = serde_json::from_value(
        serde_json::json!({ "user_id": "u", "channel": "cli", "content": "hi" }),
    )
    .unwrap();
    let error = hooks.fire_gating::<BeforeInbound>(payload).await.unwrap_err();
    let text = "handler `stuck` (built-in) at `before_inbound`: did not finish within 5s";
    assert_eq!(error.to_string(), text);
}

#[test]
fn l14_a_limit_of_zero_is_refused() {
    let hooks = HookRegistry::new();
    let zero = on::<Tell>().name("zero").timeout(Duration::ZERO).handler(|_: &TellPayload| ());
    let error = hooks.register(zero).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`zero` at `tell` has a time limit of zero: leave it out or make it longer"
    );
    assert!(matches!(error, RegisterError::ZeroTimeout { .. }));
}

/// A handler that waits with a limit, and one with a limit that need not wait.
fn limited() -> HookRegistry {
    let hooks = HookRegistry::new();
    let limit = Duration::from_millis(200);
    hooks
        .register([
            on::<Tell>()
                .name("swift")
                .timeout(limit)
                .on_failure(Closed)
                .handler(async |_: &TellPayload| ()),
            on::<Tell>()
                .name("waits")
                .timeout(limit)
                .on_failure(Closed)
                .handler(async |_: &TellPayload| futures::pending!()),
        ])
        .unwrap();
    hooks
}

const NO_TIMER: &str = "handler `waits` (built-in) at `tell`: waits with a limit of 200ms, but \
    there is no timer: fire inside a tokio runtime with time enabled, or give the registry a `Timer`";

#[test]
fn l14_without_a_runtime_a_limit_is_a_typed_error() {
    let hooks = limited();
    let fire = async { hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err() };
    let error = futures::executor::block_on(fire);
    assert_eq!(error.to_string(), NO_TIMER);
    assert!(matches!(error.failure().unwrap().kind(), FailureKind::NoTimer(_)));
}

#[test]
fn l14_without_time_in_the_runtime_a_limit_is_a_typed_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let hooks = limited();
    let fire = async { hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err() };
    assert_eq!(runtime.block_on(fire).to_string(), NO_TIMER);
}

#[test]
fn l14_a_runtime_that_ends_under_a_waiting_handler_is_no_panic() {
    let hooks = HookRegistry::new();
    hooks
        .register(
            on::<Tell>()
                .timeout(Duration::from_secs(5))
                .handler(async |_: &TellPayload| std::future::pending::<()>().await),
        )
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let payload = TellPayload { n: 1 };
    let mut fire = Box::pin(hooks.fire_void::<Tell>(&payload));
    {
        let _inside = runtime.enter();
        assert!(poll_once(fire.as_mut()).is_pending());
    }
    drop(runtime);
    // Another thread polls the fire, and its timer is gone for good.
    let _ = poll_once(fire.as_mut());
}

/// A clock whose every wait is over at once.
#[derive(Debug)]
struct Hasty;

impl Timer for Hasty {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(std::future::ready(())))
    }
}

#[test]
fn l14_a_host_may_bring_its_own_timer() {
    let hooks = HookRegistry::builder().timer(Hasty).build();
    hooks
        .register(
            on::<Tell>()
                .name("waits")
                .timeout(Duration::from_secs(1))
                .on_failure(Closed)
                .handler(async |_: &TellPayload| std::future::pending::<()>().await),
        )
        .unwrap();
    let payload = TellPayload { n: 1 };
    let error = futures::executor::block_on(hooks.fire_void::<Tell>(&payload)).unwrap_err();
    let text = "handler `waits` (built-in) at `tell`: did not finish within 1s";
    assert_eq!(error.to_string(), text);
}

const LIMIT: Duration = Duration::from_millis(200);

/// Its waits panic when they are dropped; on demand it panics itself.
#[derive(Debug)]
struct Brittle {
    at_once: bool,
}

struct BrittleSleep;

impl Future for BrittleSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Drop for BrittleSleep {
    fn drop(&mut self) {
        panic!("the timer broke");
    }
}

impl Timer for Brittle {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        assert!(!self.at_once, "the timer broke");
        Some(Box::pin(BrittleSleep))
    }
}

#[test]
fn l12_a_timer_that_panics_does_not_reach_the_host() {
    keep_quiet(&["the timer broke"]);
    let fire = |at_once, wait: bool| {
        let hooks = HookRegistry::builder().timer(Brittle { at_once }).build();
        let waits = async |wait: &bool, _: &RoutePayload| {
            let mut waited = false;
            poll_fn(|_| {
                let first = !std::mem::replace(&mut waited, true);
                if first || *wait { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            Some("late")
        };
        hooks.register(on::<Route>().timeout(LIMIT).handler_with(wait, waits)).unwrap();
        let payload = RoutePayload { n: 1 };
        let mut fire = Box::pin(hooks.fire_claiming::<Route>(&payload));
        [(); 2].map(|()| format!("{:?}", poll_once(fire.as_mut()))).join(", ")
    };
    assert_eq!(fire(false, true), "Pending, Pending");
    assert_eq!(fire(false, false), "Pending, Ready(Ok(Claimed(\"late\")))");
}

#[tokio::test]
async fn l14_where_the_timer_panics_there_is_none() {
    keep_quiet(&["the timer broke"]);
    let hooks = HookRegistry::builder().timer(Brittle { at_once: true }).build();
    let limited = on::<Tell>().timeout(LIMIT).on_failure(Closed);
    let waits = async |_: &TellPayload| std::future::pending::<()>().await;
    hooks.register(limited.name("waits").handler(waits)).unwrap();
    let error = hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap_err();
    let FireError::Failed(failure) = error else { panic!("{error}") };
    assert!(matches!(failure.kind(), FailureKind::NoTimer(LIMIT)), "{failure}");
}
