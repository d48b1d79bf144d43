//! What handlers leave behind is the user's, and may panic when it is dropped:
//! that is contained too, and no count is left standing (L12, L25).

mod support;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::{
    BeforeExecute, BoxError, Claim, FailurePolicy, Finally, FlowContext, Gate, HookRegistry,
    Verdict, hook_points, on,
};
use support::{Count, CountsDrop, Log, Spiky, keep_quiet, poll_once};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { thing: Spiky, word: &'static str }
    /// Furnishes.
    pub modifying Furnish(u32) -> { left: Spiky, right: Spiky, word: &'static str }
    /// Routes.
    pub claiming Route(u32) -> Spiky;
    /// Checks.
    pub gating Check(Spiky);
    /// Makes.
    pub flow Make(u32) -> Spiky;
}

const SHARP: fn() -> Spiky = || Spiky { sharp: true };
const BLUNT: fn() -> Spiky = || Spiky { sharp: false };

fn quiet() -> HookRegistry {
    keep_quiet(&["spiky to the end"]);
    HookRegistry::new()
}

/// The error is the host's, which drops it with care.
#[track_caller]
fn blunted(error: impl std::error::Error) -> String {
    let text = error.to_string();
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(error)));
    assert!(dropped.is_err(), "it was the sharp one");
    text
}

/// No handler of the plugin counts as running.
#[track_caller]
fn idle(hooks: &HookRegistry, plugin: &str) {
    let removal = hooks.unregister_plugin(plugin);
    let drained = poll_once((&removal).into_future().as_mut());
    assert_eq!(drained.map(DrainOutcome::into_result), Poll::Ready(Ok(())));
}

#[tokio::test]
async fn l12_of_several_errors_the_lost_ones_are_dropped_with_care() {
    let (hooks, log) = (quiet(), Log::new());
    let closed = |name| on::<Tell>().name(name).plugin("shed").on_failure(FailurePolicy::Closed);
    let waits = async |_: &u32| {
        tokio::task::yield_now().await;
        Err::<(), _>(SHARP())
    };
    hooks
        .register([
            closed("slow").handler(waits),
            closed("quick").handler(|_: &u32| Err::<(), _>(SHARP())),
            closed("late").handler(waits),
            on::<Tell>().handler(log.note("next")),
        ])
        .unwrap();
    // `slow` displaces `quick`, and `late` comes too late.
    let error = hooks.fire_void::<Tell>(&1).await.unwrap_err();
    assert_eq!(blunted(error), "handler `slow` (plugin `shed`) at `tell`: spiky");
    assert_eq!(log.take(), ["next"]);
    idle(&hooks, "shed");
}

/// Panics in that poll, and has something to drop afterwards.
struct PanicsLater {
    polls: u32,
    _dropped: CountsDrop,
}

impl Future for PanicsLater {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        assert_ne!(self.polls, 0, "no more wick");
        self.polls -= 1;
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

#[tokio::test]
async fn l12_a_future_that_panicked_is_dropped() {
    keep_quiet(&["no more wick"]);
    for polls in 0..3 {
        let (hooks, dropped) = (HookRegistry::new(), Count::default());
        let count = dropped.clone();
        let panics = move |_: &u32| PanicsLater { polls, _dropped: count.on_drop() };
        hooks.register(on::<Tell>().handler(panics)).unwrap();
        for fires in 1..3 {
            hooks.fire_void::<Tell>(&1).await.unwrap();
            assert_eq!(dropped.get(), fires, "after {polls} polls");
        }
    }
}

#[tokio::test]
async fn l12_a_payload_that_was_replaced_is_dropped_with_care() {
    let hooks = quiet();
    let replaces = on::<Check>().name("blunt").plugin("shed");
    hooks.register(replaces.handler(|_: &Spiky| Verdict::Replace(BLUNT()))).unwrap();
    assert_eq!(hooks.fire_gating::<Check>(SHARP()).await.unwrap(), Gate::Passed(BLUNT()));
    idle(&hooks, "shed");
}

#[tokio::test]
async fn l12_a_payload_that_was_rejected_is_dropped_with_care() {
    let hooks = quiet();
    let rejects = |_: &Spiky| Verdict::<Spiky>::Reject("too sharp".to_owned());
    hooks.register(on::<Check>().name("guard").plugin("shed").handler(rejects)).unwrap();
    let Gate::Rejected(rejection) = hooks.fire_gating::<Check>(SHARP()).await.unwrap() else {
        panic!("it is rejected");
    };
    assert_eq!(rejection.reason(), "too sharp");
    idle(&hooks, "shed");
}

/// A registry in which something sharp is merged first.
fn merging() -> HookRegistry {
    let hooks = quiet();
    let sharp = |_: &u32| AmendResult { thing: Some(SHARP()), word: None };
    hooks.register(on::<Amend>().name("first").handler(sharp)).unwrap();
    hooks
}

#[tokio::test]
async fn l12_what_was_merged_before_a_failure_is_dropped_with_care() {
    let hooks = merging();
    let fails = |_: &u32| Err::<AmendResult, _>("no more");
    hooks.register(on::<Amend>().on_failure(FailurePolicy::Closed).handler(fails)).unwrap();
    let error = hooks.fire_modifying::<Amend>(&1).await.unwrap_err();
    assert!(error.to_string().contains("no more"), "{error}");
}

/// Of two panics in one drop the second would end the process.
#[tokio::test]
async fn l12_two_values_that_were_merged_before_a_failure_are_dropped_one_by_one() {
    let hooks = quiet();
    let both = |_: &u32| FurnishResult { left: Some(SHARP()), right: Some(SHARP()), word: None };
    let fails = |_: &u32| Err::<FurnishResult, _>("no more");
    hooks
        .register([
            on::<Furnish>().handler(both),
            on::<Furnish>().on_failure(FailurePolicy::Closed).handler(fails),
        ])
        .unwrap();
    let error = hooks.fire_modifying::<Furnish>(&1).await.unwrap_err();
    assert!(error.to_string().ends_with("no more"), "{error}");
}

#[tokio::test]
async fn l25_what_was_merged_in_a_fire_that_is_dropped_is_dropped_with_care() {
    let hooks = merging();
    let waits = async |_: &u32| std::future::pending::<AmendResult>().await;
    hooks.register(on::<Amend>().plugin("shed").handler(waits)).unwrap();
    let mut fire = Box::pin(hooks.fire_modifying::<Amend>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    drop(fire);
    idle(&hooks, "shed");
}

/// A registry in which two handlers set something sharp.
fn furnishing() -> HookRegistry {
    let hooks = quiet();
    hooks
        .register([
            on::<Furnish>()
                .handler(|_: &u32| FurnishResult { left: Some(SHARP()), ..Default::default() }),
            on::<Furnish>()
                .handler(|_: &u32| FurnishResult { right: Some(SHARP()), ..Default::default() }),
        ])
        .unwrap();
    hooks
}

/// Dropped together, the second would panic while the first unwinds.
#[tokio::test]
async fn l12_what_two_handlers_set_before_a_failure_is_dropped_one_by_one() {
    let hooks = furnishing();
    let fails = |_: &u32| Err::<FurnishResult, _>("no more");
    let closed = on::<Furnish>().name("closed").on_failure(FailurePolicy::Closed);
    hooks.register(closed.handler(fails)).unwrap();
    let expected = "handler `closed` (built-in) at `furnish`: no more";
    assert_eq!(hooks.fire_modifying::<Furnish>(&1).await.unwrap_err().to_string(), expected);
    let (furnished, report) = hooks.fire_modifying_reported::<Furnish>(&1).await;
    assert_eq!(furnished.unwrap_err().to_string(), expected);
    let rows: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(rows, ["set left", "set right", "error, fail-closed: no more"]);
}

#[tokio::test]
async fn l25_what_two_handlers_set_in_a_fire_that_is_dropped_is_dropped_one_by_one() {
    let hooks = furnishing();
    let waits = async |_: &u32| std::future::pending::<FurnishResult>().await;
    hooks.register(on::<Furnish>().plugin("shed").handler(waits)).unwrap();
    let mut fire = Box::pin(hooks.fire_modifying::<Furnish>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    drop(fire);
    idle(&hooks, "shed");
}

/// Runs the flow with what `leave` does in `BeforeExecute`.
async fn made_after(
    leave: impl Fn(&mut FlowContext<Make>) -> Result<(), BoxError> + Send + Sync + 'static,
) -> String {
    let hooks = quiet();
    hooks.register(on::<BeforeExecute<Make>>().name("leaves").handler(leave)).unwrap();
    let made = hooks.run_flow::<Make, _>(1, async |_| Ok::<_, Spiky>(BLUNT())).await;
    made.map_or_else(|error| error.to_string(), |output| output.to_string())
}

#[tokio::test]
async fn l12_what_is_left_in_the_state_of_a_flow_is_dropped_with_care() {
    let left = made_after(|flow| {
        flow.state_mut().insert(Arc::new(SHARP()));
        Ok(())
    });
    assert_eq!(left.await, "spiky");
}

#[tokio::test]
async fn l12_an_answer_that_a_failed_flow_has_no_use_for_is_dropped_with_care() {
    let left = made_after(|flow| {
        flow.respond(SHARP());
        Err("no luck".into())
    });
    assert_eq!(left.await, "handler `leaves` (built-in) at `make/beforeExecute`: no luck");
}

#[tokio::test]
async fn l12_what_a_failed_handler_asked_for_is_dropped_with_care() {
    let (hooks, log) = (quiet(), Log::new());
    let next = log.clone();
    hooks
        .register([
            on::<Finally<Make>>().handler(|flow: &mut FlowContext<Make>| {
                flow.abort(SHARP());
                Err::<(), _>("no luck")
            }),
            on::<Finally<Make>>().handler(move |_: &mut FlowContext<Make>| next.push("next")),
        ])
        .unwrap();
    let made = hooks.run_flow::<Make, _>(1, async |_| Ok::<_, Spiky>(BLUNT())).await;
    assert_eq!(made.unwrap(), BLUNT());
    assert_eq!(log.take(), ["next"]);
}

/// What came too late panics when everything else is merged: the handler did
/// not fail, and the report says what it set (L08).
#[tokio::test]
async fn l08_a_value_that_came_too_late_is_dropped_with_care() {
    let hooks = quiet();
    let closed = |name| on::<Amend>().name(name).on_failure(FailurePolicy::Closed);
    hooks
        .register([
            closed("first").handler(|_: &u32| AmendResult { thing: Some(BLUNT()), word: None }),
            closed("second")
                .handler(|_: &u32| AmendResult { thing: Some(SHARP()), word: Some("set") }),
        ])
        .unwrap();
    let (amended, report) = hooks.fire_modifying_reported::<Amend>(&1).await;
    let AmendResult { thing, word } = amended.unwrap();
    assert_eq!((thing, word), (Some(BLUNT()), Some("set")));
    let rows: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(rows, ["set thing", "set word"]);
}

#[tokio::test]
async fn l08_two_values_that_came_too_late_are_dropped_one_by_one() {
    let hooks = quiet();
    let closed = |name| on::<Furnish>().name(name).on_failure(FailurePolicy::Closed);
    let both = |thing: fn() -> Spiky, word| FurnishResult {
        left: Some(thing()),
        right: Some(thing()),
        word,
    };
    hooks
        .register([
            closed("first").handler(move |_: &u32| both(BLUNT, None)),
            closed("second").handler(move |_: &u32| both(SHARP, Some("set"))),
        ])
        .unwrap();
    let (furnished, report) = hooks.fire_modifying_reported::<Furnish>(&1).await;
    let FurnishResult { left, right, word } = furnished.unwrap();
    assert_eq!((left, right, word), (Some(BLUNT()), Some(BLUNT()), Some("set")));
    let rows: Vec<_> = report.handlers().iter().map(|row| row.status().to_string()).collect();
    assert_eq!(rows, ["set left, right", "set word"]);
    assert_eq!(hooks.handlers_at::<Furnish>()[1].failures, 0);
}

/// An operation that is done at once and panics when it is dropped.
struct ReadyBomb;

impl Future for ReadyBomb {
    type Output = Result<Spiky, Spiky>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(BLUNT()))
    }
}

impl Drop for ReadyBomb {
    fn drop(&mut self) {
        panic!("spiky to the end");
    }
}

#[tokio::test]
async fn l11_finally_runs_though_the_operation_panics_in_its_drop() {
    let (hooks, log) = (quiet(), Log::new());
    let last = log.clone();
    hooks
        .register(on::<Finally<Make>>().handler(move |flow: &mut FlowContext<Make>| {
            last.push(flow.error().map_or("fine".into(), ToString::to_string));
        }))
        .unwrap();
    let made = hooks.run_flow::<Make, _>(1, async |_| ReadyBomb.await).await;
    let text = "the operation of `make` panicked: spiky to the end";
    assert_eq!(made.unwrap_err().to_string(), text);
    assert_eq!(log.take(), [text]);
}

#[test]
fn l12_the_error_that_a_dropped_fire_holds_is_dropped_with_care() {
    let hooks = quiet();
    hooks
        .register([
            on::<Tell>().on_failure(FailurePolicy::Closed).handler(|_: &u32| Err::<(), _>(SHARP())),
            on::<Tell>().handler(async |_: &u32| std::future::pending::<()>().await),
        ])
        .unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Tell>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    let dropped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(fire)));
    assert!(dropped.is_ok(), "it reached the host");
}

/// Ready at once with something sharp, and sharp itself when it goes.
struct Last(#[expect(dead_code, reason = "it is there to be dropped")] Spiky);

impl Future for Last {
    type Output = Option<Spiky>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Some(SHARP()))
    }
}

fn last(_: &u32) -> Last {
    Last(SHARP())
}

#[tokio::test]
async fn l12_a_future_and_its_answer_may_both_panic_when_they_are_dropped() {
    let hooks = quiet();
    hooks.register_claiming::<Route>(last).unwrap();
    assert_eq!(hooks.fire_claiming::<Route>(&1).await.unwrap(), Claim::Unclaimed);
    let handlers = hooks.handlers_at::<Route>();
    assert_eq!((handlers[0].calls, handlers[0].failures), (1, 1));
}
