//! How handlers fail (L12), what a failure means for the fire (L13), and that
//! it differs from every other outcome (L10, L15).

mod support;

use std::future::Future;
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_runtime::handler::On;
use hooks_runtime::report::{FireReport, HandlerStatus, SkipReason};
use hooks_runtime::{
    BoxError, Claim, FailurePolicy, FireError, Gate, HookPoint, HookRegistry, Verdict, hook_points,
    on,
};
use support::{Log, OnDrop, poll_once};

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
    /// Amends.
    #[result(derive(PartialEq))]
    pub modifying Amend { n: u32 } -> { word: &'static str }
    /// Routes.
    pub claiming Route { n: u32 } -> &'static str;
    /// Checks; open, so that a handler can be tried with either policy.
    #[hook(on_failure = "open")]
    pub gating Check(u32);
    /// Checks, with the policy that gating points have by default.
    pub gating Strict(u32);
    /// Fills a slot with a thing that may be dropped only with care.
    pub modifying Fill { n: u32 } -> { thing: Spiky }
}

use FailurePolicy::{Closed, Open};

/// The ways to fail.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Error,
    PanicStr,
    PanicString,
    PanicOther,
    /// The payload of the panic panics when it is dropped.
    PanicBomb,
    BeforeTheFuture,
    AfterAnAwait,
    InTheDrop,
    TooSlow,
    /// Too slow, and its future panics when it is dropped for that.
    TooSlowAndInTheDrop,
}

const WAYS: [(Way, &str, &str); 10] = [
    (Way::Error, "error", "no luck"),
    (Way::PanicStr, "panic", "panicked: a str"),
    (Way::PanicString, "panic", "panicked: a String, 7"),
    (Way::PanicOther, "panic", "panicked: the panic carried no text"),
    (Way::PanicBomb, "panic", "panicked: the panic carried no text"),
    (Way::BeforeTheFuture, "panic", "panicked: before the future"),
    (Way::AfterAnAwait, "panic", "panicked: after an await"),
    (Way::InTheDrop, "panic", "panicked: in the drop"),
    (Way::TooSlow, "timeout", "did not finish within 5s"),
    (Way::TooSlowAndInTheDrop, "timeout", "did not finish within 5s"),
];

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in the drop");
    }
}

/// A future that is done at once and panics when it is dropped.
struct ReadyBomb<T>(Option<T>, Bomb);

impl<T: Unpin> Future for ReadyBomb<T> {
    type Output = Result<T, BoxError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(self.0.take().unwrap()))
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

/// A future that fails that way; where it comes to an output, that is `spare`.
fn fails<T: Send + Unpin + 'static>(way: Way, spare: T) -> Boxed<T> {
    if way == Way::BeforeTheFuture {
        panic!("before the future");
    }
    if way == Way::InTheDrop {
        return Box::pin(ReadyBomb(Some(spare), Bomb));
    }
    Box::pin(async move {
        let _bomb = (way == Way::TooSlowAndInTheDrop).then(|| Bomb);
        match way {
            Way::Error => return Err("no luck".into()),
            Way::PanicStr => panic!("a str"),
            Way::PanicString => panic!("a String, {}", 7),
            Way::PanicOther => panic_any(7_u8),
            Way::PanicBomb => panic_any(Bomb),
            Way::AfterAnAwait => {
                tokio::task::yield_now().await;
                panic!("after an await");
            }
            _ => std::future::pending::<()>().await,
        }
        Ok(spare)
    })
}

/// A registration called `bad` with that policy and a limit of 5 s.
fn bad<P: HookPoint>(policy: FailurePolicy) -> On<P> {
    on::<P>().name("bad").plugin("shed").on_failure(policy).timeout(Duration::from_secs(5))
}

/// The failure is in the report, distinct from every other outcome.
#[track_caller]
fn reported(report: &FireReport, kind: &'static str, message: &str, policy: FailurePolicy) {
    let failed = HandlerStatus::Failed { kind, message: message.to_owned(), policy };
    assert_eq!(report.handlers()[0].status(), &failed);
    assert!(report.handlers()[0].elapsed().is_some());
}

#[track_caller]
fn failed_with<T: std::fmt::Debug>(outcome: Result<T, FireError>, point: &str, message: &str) {
    let error = outcome.unwrap_err();
    let text = format!("handler `bad` (plugin `shed`) at `{point}`: {message}");
    assert_eq!(error.to_string(), text);
    let failure = error.failure().unwrap();
    assert_eq!((failure.point(), failure.handler()), (point, "bad"));
    assert_eq!(failure.owner().to_string(), "plugin `shed`");
}

#[tokio::test(start_paused = true)]
async fn l13_void_runs_all_then_fails_if_closed() {
    for ((way, kind, message), policy) in WAYS.into_iter().flat_map(|w| [(w, Open), (w, Closed)]) {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks
            .register([
                bad::<Tell>(policy).handler(move |_: &TellPayload| fails(way, ())),
                on::<Tell>().name("next").handler(log.note("next")),
            ])
            .unwrap();
        let (outcome, report) = hooks.fire_void_reported::<Tell>(&TellPayload { n: 1 }).await;
        match policy {
            Open => outcome.unwrap(),
            Closed => failed_with(outcome, "tell", message),
        }
        reported(&report, kind, message, policy);
        assert_eq!(log.take(), ["next"], "{way:?} {policy}");
        // Without a report the outcome is the same.
        let again = hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await;
        assert_eq!(again.is_err(), policy == Closed, "{way:?} {policy}");
        assert_eq!(log.take(), ["next"]);
    }
}

/// One sequential model: `bad` fails, then `next` answers.
macro_rules! sequential {
    ($test:ident, $point:ty, $name:literal, $spare:expr, $next:expr, $fire:ident($payload:expr) => $open:expr) => {
        #[tokio::test(start_paused = true)]
        async fn $test() {
            for ((way, kind, message), policy) in
                WAYS.into_iter().flat_map(|w| [(w, Open), (w, Closed)])
            {
                let hooks = HookRegistry::new();
                hooks
                    .register([
                        bad::<$point>(policy)
                            .handler(move |_: &<$point as HookPoint>::Payload| fails(way, $spare)),
                        on::<$point>().name("next").handler($next),
                    ])
                    .unwrap();
                let (outcome, report) = hooks.$fire::<$point>($payload).await;
                reported(&report, kind, message, policy);
                let next = report.handlers()[1].status();
                match policy {
                    Open => {
                        assert_eq!(outcome.unwrap(), $open, "{way:?}");
                        assert!(matches!(next, HandlerStatus::Ran(_)), "{way:?}: {next}");
                    }
                    Closed => {
                        failed_with(outcome, $name, message);
                        assert_eq!(next, &HandlerStatus::Filtered(SkipReason::AfterFailure));
                    }
                }
            }
        }
    };
}

sequential!(
    l13_modifying_goes_on_open_and_stops_closed, Amend, "amend",
    Some(AmendResult { word: Some("bad") }),
    |_: &AmendPayload| AmendResult { word: Some("next") },
    fire_modifying_reported(&AmendPayload { n: 1 }) => AmendResult { word: Some("next") }
);
sequential!(
    l13_claiming_goes_on_open_and_stops_closed, Route, "route",
    Some("bad"), |_: &RoutePayload| Some("next"),
    fire_claiming_reported(&RoutePayload { n: 1 }) => Claim::Claimed("next")
);
sequential!(
    l13_gating_goes_on_open_and_stops_closed, Check, "check",
    Verdict::<u32>::Pass, |n: &u32| Verdict::Replace(n + 1),
    fire_gating_reported(1) => Gate::Passed(2)
);

#[tokio::test]
async fn l13_the_default_is_open_but_for_gates() {
    let hooks = HookRegistry::new();
    let fail = || Err::<(), _>("no luck");
    hooks
        .register([
            on::<Tell>().handler(move |_: &TellPayload| fail()),
            on::<Amend>().handler(move |_: &AmendPayload| fail().map(|()| AmendResult::default())),
            on::<Route>().handler(move |_: &RoutePayload| fail().map(|()| Some("bad"))),
            on::<Check>().handler(move |_: &u32| fail().map(|()| Verdict::<u32>::Pass)),
            on::<Strict>()
                .name("vote")
                .handler(move |_: &u32| fail().map(|()| Verdict::<u32>::Pass)),
        ])
        .unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    let amended = hooks.fire_modifying::<Amend>(&AmendPayload { n: 1 }).await.unwrap();
    assert_eq!(amended, AmendResult::default());
    let routed = hooks.fire_claiming::<Route>(&RoutePayload { n: 1 }).await.unwrap();
    assert_eq!(routed, Claim::Unclaimed);
    assert_eq!(hooks.fire_gating::<Check>(1).await.unwrap(), Gate::Passed(1));
    let error = hooks.fire_gating::<Strict>(1).await.unwrap_err();
    assert_eq!(error.to_string(), "handler `vote` (built-in) at `strict`: no luck");
    assert!(std::error::Error::source(error.failure().unwrap()).is_some());
}

#[tokio::test]
async fn l10_no_policy_swallows_a_rejection() {
    let hooks = HookRegistry::new();
    hooks
        .register(
            on::<Check>()
                .name("veto")
                .handler(|_: &u32| Ok::<_, BoxError>(Verdict::<u32>::reject("too heavy"))),
        )
        .unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Check>(1).await.unwrap() else { panic!() };
    assert_eq!(rejection.to_string(), "rejected at `check` by `veto` (built-in): too heavy");
}

#[test]
fn l13_a_handler_cannot_loosen() {
    let hooks = HookRegistry::new();
    let loose = on::<Strict>().name("vote").on_failure(Open).guard(|_: &u32| Verdict::Pass);
    let error = hooks.register(loose).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`vote` asks for fail-open, but `strict` is fail-closed: a handler may only tighten its \
         point's policy; leave `on_failure` out"
    );
    assert!(!hooks.has_handlers::<Strict>());
}

/// An error that misbehaves when it is printed or dropped.
#[derive(Debug)]
struct Sour {
    in_drop: bool,
}

impl std::fmt::Display for Sour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.in_drop { f.write_str("sour") } else { panic!("no words") }
    }
}

impl std::error::Error for Sour {}

impl Drop for Sour {
    fn drop(&mut self) {
        if self.in_drop {
            panic!("sour to the end");
        }
    }
}

/// The error is the handler's, so its `Display` and its `Drop` are too: a panic
/// in either is not to reach the host.
async fn fails_sourly(in_drop: bool) {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks
        .register([
            on::<Tell>().handler(move |_: &TellPayload| Err::<(), _>(Sour { in_drop })),
            on::<Tell>().handler(log.note("next")),
        ])
        .unwrap();
    // In a task of its own: what unwinds out of the fire ends only that.
    let fire = tokio::spawn(async move {
        let (outcome, _) = hooks.fire_void_reported::<Tell>(&TellPayload { n: 1 }).await;
        outcome.is_ok()
    });
    assert!(fire.await.expect("the fire did not unwind"));
    assert_eq!(log.take(), ["next"]);
}

#[tokio::test]
async fn l12_an_error_whose_drop_panics_does_not_reach_the_host() {
    fails_sourly(true).await;
}

#[tokio::test]
async fn l12_an_error_whose_text_panics_does_not_reach_the_host() {
    fails_sourly(false).await;
}

/// Panics when it is dropped, if it is sharp.
#[derive(Clone, Debug)]
pub struct Spiky {
    sharp: bool,
}

impl Drop for Spiky {
    fn drop(&mut self) {
        if self.sharp {
            panic!("spiky to the end");
        }
    }
}

#[tokio::test]
async fn l12_a_losing_value_whose_drop_panics_does_not_reach_the_host() {
    let hooks = HookRegistry::new();
    for sharp in [false, true] {
        hooks
            .register(
                on::<Fill>()
                    .handler(move |_: &FillPayload| FillResult { thing: Some(Spiky { sharp }) }),
            )
            .unwrap();
    }
    let fire = tokio::spawn(async move {
        hooks.fire_modifying::<Fill>(&FillPayload { n: 1 }).await.unwrap().thing.unwrap().sharp
    });
    assert!(!fire.await.expect("the fire did not unwind"));
}

#[tokio::test]
async fn l15_decided_no_opinion_and_failed_are_three_things() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Route>().name("silent").handler(|_: &RoutePayload| None),
            on::<Route>().name("broken").handler(|_: &RoutePayload| Err::<Option<_>, _>("no map")),
            on::<Route>().name("decided").handler(|_: &RoutePayload| Some("north")),
        ])
        .unwrap();
    let (claim, report) = hooks.fire_claiming_reported::<Route>(&RoutePayload { n: 1 }).await;
    assert_eq!(claim.unwrap(), Claim::Claimed("north"));
    let told: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(told, ["ran", "error, fail-open: no map", "claimed"]);
}

static REPEATS: AtomicU32 = AtomicU32::new(0);

/// Panics with itself when dropped. The count ends what would go on for ever.
struct Hydra;

impl Drop for Hydra {
    fn drop(&mut self) {
        if REPEATS.fetch_add(1, Ordering::Relaxed) < 300 {
            panic_any(Hydra);
        }
    }
}

#[tokio::test]
async fn l12_a_panic_that_grows_back_is_given_up() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Tell>().handler(|_: &TellPayload| -> () { panic_any(Hydra) })).unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    let repeats = REPEATS.load(Ordering::Relaxed);
    assert!(repeats < 100, "dropped {repeats} heads: a true hydra would hang the fire");
}

#[tokio::test]
async fn l12_a_fire_that_is_dropped_contains_its_handlers_drops() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Tell>().handler(|_: &TellPayload| fails(Way::TooSlowAndInTheDrop, ())))
        .unwrap();
    let payload = TellPayload { n: 1 };
    let mut fire = Box::pin(hooks.fire_void::<Tell>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending());
    drop(fire);
}

#[tokio::test]
async fn l12_dropping_a_handlers_captures_may_panic_too() {
    let hooks = HookRegistry::new();
    let bomb = OnDrop(|| panic!("captured"));
    let handles = hooks
        .register(on::<Tell>().handler(move |_: &TellPayload| {
            let _held = &bomb;
        }))
        .unwrap();
    hooks.fire_void::<Tell>(&TellPayload { n: 1 }).await.unwrap();
    assert_eq!(handles.unregister().removed(), 1);
    assert!(!hooks.has_handlers::<Tell>());
}
