//! The facts that the Ethos documents state about its hooks, one by one, and
//! the faults found in its code, which must not come back.

mod support;

use std::convert::Infallible;
use std::future::Ready;
use std::sync::{Arc, Mutex};

use hooks_points::*;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{Claim, FailurePolicy, HookContext, HookRegistry, hook_points, on};
use serde_json::json;
use support::{Count, CountsDrop, Log, soon};
use tokio::sync::{Barrier, oneshot};

hook_points! {
    /// Two fields whose values count their own end.
    pub modifying Furnish { room: &'static str } -> { table: Arc<CountsDrop>, lamp: &'static str }
}

fn session() -> SessionStartPayload {
    SessionStartPayload {
        session_id: "s1".into(),
        session_key: "cli:test".into(),
        platform: "cli".into(),
        personality_id: None,
    }
}

fn prompt() -> BeforePromptBuildPayload {
    BeforePromptBuildPayload { session_id: "s1".into(), personality_id: None, history: Vec::new() }
}

fn tool_call(id: &str, command: &str) -> BeforeToolCallPayload {
    BeforeToolCallPayload {
        session_id: "s1".into(),
        tool_call_id: id.into(),
        tool_name: "terminal".into(),
        args: json!({ "command": command }),
    }
}

fn dispatch(platform: &str) -> BeforeDispatchPayload {
    BeforeDispatchPayload { chat_id: "c".into(), platform: platform.into(), text: "hi".into() }
}

fn prepend(text: &str) -> BeforePromptBuildResult {
    BeforePromptBuildResult { prepend_system: Some(text.into()), ..Default::default() }
}

#[tokio::test(start_paused = true)]
async fn l07_void_handlers_run_concurrently() {
    let hooks = HookRegistry::new();
    let barrier = Arc::new(Barrier::new(3));
    for _ in 0..3 {
        hooks
            .register_void_with::<SessionStart, _>(
                Arc::clone(&barrier),
                async |barrier: &Arc<Barrier>, _: &SessionStartPayload| {
                    barrier.wait().await;
                },
            )
            .unwrap();
    }
    // One after another, the first would wait for ever. Time is paused: the
    // limit passes at once if nothing else can happen.
    let payload = session();
    let fire = hooks.fire_void::<SessionStart>(&payload);
    soon(fire).await.unwrap();
}

type Slow = (Log, Mutex<Option<oneshot::Receiver<()>>>);

#[tokio::test(start_paused = true)]
async fn l07_the_fire_returns_when_the_slowest_has_settled() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    let (finish, finished) = oneshot::channel::<()>();
    let slow = (log.clone(), Mutex::new(Some(finished)));
    hooks
        .register_void_with::<AgentDone, _>(slow, async |slow: &Slow, _: &AgentDonePayload| {
            let finished = slow.1.lock().unwrap().take().unwrap();
            finished.await.unwrap();
            slow.0.push("slow");
        })
        .unwrap();
    hooks.register(on::<AgentDone>().handler(log.note("quick"))).unwrap();
    let payload: AgentDonePayload =
        serde_json::from_value(json!({ "sessionId": "s1", "text": "bye", "turnCount": 1 }))
            .unwrap();

    let mut fire = Box::pin(hooks.fire_void::<AgentDone>(&payload));
    assert!(support::poll_once(fire.as_mut()).is_pending());
    assert_eq!(log.take(), ["quick"]);
    finish.send(()).unwrap();
    soon(fire).await.unwrap();
    assert_eq!(log.take(), ["slow"]);
}

#[tokio::test]
async fn l07_a_handler_that_panics_synchronously_stops_no_other() {
    // In Ethos the throw happens in `handlers.map`, before there is a promise
    // for `Promise.allSettled` to settle.
    let hooks = HookRegistry::new();
    let log = Log::new();
    hooks
        .register([
            on::<SessionStart>().handler(log.note("first")),
            on::<SessionStart>()
                .handler(|_: &SessionStartPayload| -> Ready<()> { panic!("before any future") }),
            on::<SessionStart>().handler(|_: &SessionStartPayload| -> () { panic!("plain") }),
            on::<SessionStart>().handler(log.note("last")),
        ])
        .unwrap();
    hooks.fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), ["first", "last"]);
}

#[tokio::test]
async fn l08_the_first_value_of_a_field_wins_and_the_loser_is_dropped() {
    let hooks = HookRegistry::new();
    let dropped = Count::default();
    for (name, lamp) in [("oak", None), ("elm", Some("tall")), ("ash", Some("short"))] {
        let dropped = dropped.clone();
        hooks
            .register(on::<Furnish>().name(name).handler(move |_: &FurnishPayload| FurnishResult {
                table: Some(Arc::new(dropped.on_drop())),
                lamp,
            }))
            .unwrap();
    }
    let (furnished, report) =
        hooks.fire_modifying_reported::<Furnish>(&FurnishPayload { room: "hall" }).await;
    let furnished = furnished.unwrap();
    assert_eq!(furnished.lamp, Some("tall"), "filled by the second, kept from the third");
    assert_eq!(dropped.get(), 2, "the tables of elm and ash are gone, oak's is not");
    drop(furnished);
    assert_eq!(dropped.get(), 3);
    let rows: Vec<_> =
        report.handlers().iter().map(|row| (row.handler(), row.status().clone())).collect();
    let set = |fields: &[&'static str]| HandlerStatus::Ran(Contribution::Fields(fields.to_vec()));
    assert_eq!(rows, [("oak", set(&["table"])), ("elm", set(&["lamp"])), ("ash", set(&[]))]);
}

#[tokio::test]
async fn l08_none_is_no_opinion() {
    let hooks = HookRegistry::new();
    hooks
        .register_modifying::<BeforePromptBuild>(async |_: &BeforePromptBuildPayload| None)
        .unwrap();
    hooks
        .register(
            on::<BeforePromptBuild>()
                .handler(|_: &BeforePromptBuildPayload| BeforePromptBuildResult::default()),
        )
        .unwrap();
    hooks
        .register(on::<BeforePromptBuild>().handler(|_: &BeforePromptBuildPayload| prepend("late")))
        .unwrap();
    let merged = hooks.fire_modifying::<BeforePromptBuild>(&prompt()).await.unwrap();
    assert_eq!(merged, prepend("late"));
}

#[tokio::test]
async fn l08_handlers_get_the_unmodified_payload_and_may_read_what_is_merged() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    for path in ["/sandbox", "/elsewhere"] {
        let log = log.clone();
        hooks
            .register(on::<BeforeToolCall>().handler(
                move |call: &BeforeToolCallPayload, cx: &HookContext| {
                    let merged = cx.merged::<BeforeToolCall>().unwrap();
                    log.push(format!("{} {:?}", call.args["command"], merged.args));
                    BeforeToolCallResult { args: Some(json!(path)), error: None }
                },
            ))
            .unwrap();
    }
    let merged = hooks.fire_modifying::<BeforeToolCall>(&tool_call("1", "ls")).await.unwrap();
    assert_eq!(merged.args, Some(json!("/sandbox")));
    assert_eq!(log.take(), [r#""ls" None"#, r#""ls" Some(String("/sandbox"))"#]);
}

#[tokio::test]
async fn l08_an_empty_rejection_cannot_disarm_a_later_one() {
    // In Ethos `{ error: "" }` takes the key, the host reads it as no error,
    // and the real block that comes later is lost.
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<BeforeToolCall>().name("empty").handler(|_: &BeforeToolCallPayload| {
                RejectionReason::new("")
                    .map(|error| BeforeToolCallResult { args: None, error: Some(error) })
            }),
            on::<BeforeToolCall>().name("block").handler(|_: &BeforeToolCallPayload| {
                RejectionReason::new("Blocked")
                    .map(|error| BeforeToolCallResult { args: None, error: Some(error) })
            }),
        ])
        .unwrap();
    let (merged, report) =
        hooks.fire_modifying_reported::<BeforeToolCall>(&tool_call("1", "rm -rf /")).await;
    assert_eq!(merged.unwrap().error.unwrap().as_str(), "Blocked");
    assert_eq!(
        report.handler("empty").unwrap().status(),
        &HandlerStatus::Failed {
            kind: "error",
            message: "a rejection needs a reason: the text is empty or only white space".into(),
            policy: FailurePolicy::Open,
        }
    );
}

#[tokio::test]
async fn l08_a_rejected_call_does_not_run_and_has_its_result() {
    let hooks = HookRegistry::new();
    hooks
        .register_modifying::<BeforeToolCall>(async |call: &BeforeToolCallPayload| {
            let command = call.args["command"].as_str()?;
            let error = RejectionReason::new(format!("Blocked: '{command}'")).ok();
            command.starts_with("rm").then_some(BeforeToolCallResult { args: None, error })
        })
        .unwrap();
    let (mut executed, mut results) = (Vec::new(), Vec::new());
    for call in [tool_call("1", "ls"), tool_call("2", "rm -rf /"), tool_call("3", "pwd")] {
        match hooks.fire_modifying::<BeforeToolCall>(&call).await.unwrap().error {
            Some(reason) => results.push((call.tool_call_id, reason.to_string())),
            None => {
                executed.push(call.tool_call_id.clone());
                results.push((call.tool_call_id, "ok".to_owned()));
            }
        }
    }
    assert_eq!(executed, ["1", "3"]);
    let expected = [("1", "ok"), ("2", "Blocked: 'rm -rf /'"), ("3", "ok")];
    assert_eq!(results, expected.map(|(id, text)| (id.to_owned(), text.to_owned())));
}

#[tokio::test]
async fn l09_a_claim_stops_the_chain() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    for name in ["dedup", "custom", "spare"] {
        let log = log.clone();
        hooks
            .register(on::<BeforeDispatch>().name(name).handler(
                move |payload: &BeforeDispatchPayload| {
                    log.push(name);
                    (payload.platform == "custom" && name == "custom").then_some(Handled)
                },
            ))
            .unwrap();
    }
    let custom = dispatch("custom");
    let (claim, report) = hooks.fire_claiming_reported::<BeforeDispatch>(&custom).await;
    assert_eq!(claim.unwrap(), Claim::Claimed(Handled));
    assert_eq!(log.take(), ["dedup", "custom"]);
    let statuses: Vec<_> = report.handlers().iter().map(|row| row.status().clone()).collect();
    assert_eq!(
        statuses,
        [
            HandlerStatus::Ran(Contribution::Nothing),
            HandlerStatus::Ran(Contribution::Claimed),
            HandlerStatus::Filtered(SkipReason::AfterClaim),
        ]
    );
    let claim = hooks.fire_claiming::<BeforeDispatch>(&dispatch("telegram")).await.unwrap();
    assert_eq!(claim, Claim::Unclaimed);
    assert_eq!(log.take(), ["dedup", "custom", "spare"]);
}

#[tokio::test]
async fn l09_completion_is_turned_down_only_by_a_claim() {
    let hooks = HookRegistry::new();
    let ticket: BeforeTicketCompletePayload =
        serde_json::from_value(json!({ "taskId": "t", "summary": "done" })).unwrap();
    let claim = hooks.fire_claiming::<BeforeTicketComplete>(&ticket).await.unwrap();
    assert_eq!(claim, Claim::Unclaimed, "opt-in: no handler, no objection");
    hooks
        .register(on::<BeforeTicketComplete>().handler(|_: &BeforeTicketCompletePayload| {
            CompletionRejected::new("no tests").map(Some)
        }))
        .unwrap();
    let claim = hooks.fire_claiming::<BeforeTicketComplete>(&ticket).await.unwrap();
    assert_eq!(claim.claimed().unwrap().reason.as_str(), "no tests");
}

#[tokio::test]
async fn l13_all_three_models_are_fail_open() {
    let hooks = HookRegistry::new();
    let log = Log::new();
    hooks
        .register([
            on::<SessionStart>().handler(|_: &SessionStartPayload| Err::<(), _>("the log is full")),
            on::<SessionStart>().handler(log.note("void")),
            on::<BeforePromptBuild>().handler(|_: &BeforePromptBuildPayload| {
                Err::<BeforePromptBuildResult, _>("no calendar")
            }),
            on::<BeforePromptBuild>().handler(|_: &BeforePromptBuildPayload| {
                Ok::<_, Infallible>(prepend("Today is Tuesday."))
            }),
            on::<BeforeDispatch>()
                .handler(|_: &BeforeDispatchPayload| Err::<Option<Handled>, _>("no adapter")),
            on::<BeforeDispatch>().handler(|_: &BeforeDispatchPayload| Some(Handled)),
        ])
        .unwrap();
    hooks.fire_void::<SessionStart>(&session()).await.unwrap();
    assert_eq!(log.take(), ["void"]);
    let merged = hooks.fire_modifying::<BeforePromptBuild>(&prompt()).await.unwrap();
    assert_eq!(merged, prepend("Today is Tuesday."));
    let claim = hooks.fire_claiming::<BeforeDispatch>(&dispatch("cli")).await.unwrap();
    assert_eq!(claim, Claim::Claimed(Handled));
}

#[tokio::test]
async fn l13_a_fail_closed_void_handler_is_heard_after_all_have_run() {
    // Ethos stores the policy of a void handler and never reads it.
    let hooks = HookRegistry::new();
    let log = Log::new();
    hooks
        .register([
            on::<SessionStart>()
                .name("billing")
                .on_failure(FailurePolicy::Closed)
                .handler(|_: &SessionStartPayload| Err::<(), _>("no ledger")),
            on::<SessionStart>().handler(log.note("after")),
        ])
        .unwrap();
    let error = hooks.fire_void::<SessionStart>(&session()).await.unwrap_err();
    assert_eq!(error.to_string(), "handler `billing` (built-in) at `session_start`: no ledger");
    assert_eq!(log.take(), ["after"]);
}

#[tokio::test]
async fn l04_registration_order_decides_among_equals() {
    let hooks = HookRegistry::new();
    for text in ["first", "second"] {
        hooks
            .register(
                on::<BeforePromptBuild>()
                    .handler(move |_: &BeforePromptBuildPayload| prepend(text)),
            )
            .unwrap();
    }
    let merged = hooks.fire_modifying::<BeforePromptBuild>(&prompt()).await.unwrap();
    assert_eq!(merged, prepend("first"));
}
