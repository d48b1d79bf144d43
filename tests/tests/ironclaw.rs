//! What users of IronClaw's hooks rely on, at the lifecycle points that carry
//! its names: order, chaining, rejection, the two failure modes, the limit of
//! five seconds. What its hooks got wrong is in `ironclaw_faults.rs`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_points::lifecycle::*;
use hooks_runtime::point::ModelKind;
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{
    FailurePolicy, FireError, Gate, HookContext, HookPoint, HookRegistry, Registration, Verdict,
    handlers, hook_handler, hook_handlers, on,
};
use serde_json::json;
use tokio::time::Instant;

type Trace = Arc<Mutex<Vec<String>>>;

fn note(trace: &Trace, line: impl Into<String>) {
    trace.lock().unwrap().push(line.into());
}

fn lines(trace: &Trace) -> Vec<String> {
    trace.lock().unwrap().clone()
}

fn inbound(content: &str) -> BeforeInboundPayload {
    BeforeInboundPayload {
        user_id: "user-1".into(),
        channel: "cli".into(),
        content: content.into(),
        thread_id: None,
    }
}

fn outbound(content: &str) -> BeforeOutboundPayload {
    BeforeOutboundPayload {
        user_id: "user-1".into(),
        channel: "cli".into(),
        content: content.into(),
        thread_id: Some("t1".into()),
    }
}

/// A rewriter that leaves a mark at the end of the text.
fn mark(name: &'static str, priority: i32, text: &'static str) -> Registration {
    on::<BeforeInbound>().name(name).priority(priority).handler(
        move |message: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
            let content = format!("{}{text}", message.content);
            Verdict::Replace(BeforeInboundPayload { content, ..message.clone() })
        },
    )
}

/// The text that passed, or the rejection or the error in words.
async fn said(hooks: &HookRegistry, content: &str) -> String {
    match hooks.fire_gating::<BeforeInbound>(inbound(content)).await {
        Ok(Gate::Passed(message)) => message.content,
        Ok(Gate::Rejected(rejection)) => rejection.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Each line is a point and an event of it.
macro_rules! events {
    ($($point:ty: $event:expr,)+) => {
        /// The event comes back from a registry without hooks as it went in.
        #[tokio::test]
        async fn l10_no_hooks_means_every_event_passes_unchanged() {
            let hooks = HookRegistry::new();
            $(
                let event = $event;
                assert_eq!(
                    hooks.fire_gating::<$point>(event.clone()).await.unwrap(),
                    Gate::Passed(event),
                    "{}", <$point>::NAME,
                );
            )+
        }

        /// Five seconds and fail-open, unless the handler says otherwise.
        #[test]
        fn l13_l14_the_points_declare_what_a_hook_has_there_by_default() {
            $(
                let declared = <$point>::descriptor();
                assert_eq!(declared.model(), ModelKind::Gating, "{}", <$point>::NAME);
                assert_eq!(declared.policy(), FailurePolicy::Open, "{}", <$point>::NAME);
                assert_eq!(declared.time_limit(), Some(Duration::from_secs(5)), "{}", <$point>::NAME);
            )+
        }

        /// The declared defaults hold in a fire: a handler that hangs is given
        /// up after five seconds, and the event passes.
        #[tokio::test(start_paused = true)]
        async fn l13_l14_at_every_point_a_hook_that_hangs_is_passed_over_after_five_seconds() {
            $({
                let hooks = HookRegistry::new();
                hooks
                    .register(on::<$point>().name("hangs").handler(
                        async |_: &<$point as HookPoint>::Payload| -> Verdict<_> {
                            std::future::pending().await
                        },
                    ))
                    .unwrap();
                let (event, since) = ($event, Instant::now());
                let (outcome, report) =
                    hooks.fire_gating_reported::<$point>(event.clone()).await;
                assert_eq!(outcome.unwrap(), Gate::Passed(event), "{}", <$point>::NAME);
                // The clock of the runtime counts in whole milliseconds.
                assert_eq!(since.elapsed().as_secs(), 5, "{}", <$point>::NAME);
                assert_eq!(
                    report.handlers()[0].status(),
                    &HandlerStatus::Failed {
                        kind: "timeout",
                        message: "did not finish within 5s".into(),
                        policy: FailurePolicy::Open,
                    },
                );
            })+
        }
    };
}

events! {
    BeforeInbound: inbound("hello"),
    BeforeToolCall: BeforeToolCallPayload {
        tool_name: "ls".into(),
        parameters: json!({ "path": "/" }),
        user_id: "user-1".into(),
        context: "chat".into(),
    },
    BeforeOutbound: outbound("hello"),
    OnSessionStart: OnSessionStartPayload { user_id: "user-1".into(), session_id: "s1".into() },
    OnSessionEnd: OnSessionEndPayload {
        user_id: "user-1".into(),
        session_id: "s1".into(),
        thread_ids: vec![uuid::Uuid::nil()],
    },
    TransformResponse: TransformResponsePayload {
        user_id: "user-1".into(),
        thread_id: "t1".into(),
        response: "done".into(),
    },
}

#[tokio::test]
async fn l04_equal_priorities_run_in_registration_order() {
    let hooks = HookRegistry::new();
    hooks.register(mark("zebra", 50, "-1")).unwrap();
    hooks.register(mark("apple", 50, "-2")).unwrap();
    hooks.register(mark("mango", 50, "-3")).unwrap();
    assert_eq!(said(&hooks, "hello").await, "hello-1-2-3");
}

#[tokio::test]
async fn l04_priority_10_runs_before_200_and_the_second_sees_the_first_ones_text() {
    let hooks = HookRegistry::new();
    hooks.register(mark("low", 200, "-LOW")).unwrap();
    hooks.register(mark("high", 10, "-HIGH")).unwrap();
    assert_eq!(said(&hooks, "hello").await, "hello-HIGH-LOW");
}

#[tokio::test]
async fn l10_a_rejection_at_10_leaves_the_rewriter_at_20_without_effect() {
    let hooks = HookRegistry::new();
    let trace = Trace::default();
    let seen = Arc::clone(&trace);
    hooks
        .register(on::<BeforeInbound>().name("rewriter").priority(20).handler(
            move |_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                note(&seen, "rewriter");
                Verdict::Replace(inbound("rewritten"))
            },
        ))
        .unwrap();
    let seen = Arc::clone(&trace);
    hooks
        .register(on::<BeforeInbound>().name("blocklist").priority(10).handler(
            move |message: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                note(&seen, format!("blocklist saw {}", message.content));
                Verdict::reject("not welcome")
            },
        ))
        .unwrap();

    let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
    let Gate::Rejected(rejection) = outcome.unwrap() else { panic!("let through") };
    assert_eq!(
        rejection.to_string(),
        "rejected at `before_inbound` by `blocklist` (built-in): not welcome"
    );
    assert_eq!(rejection.reason(), "not welcome");
    assert_eq!(rejection.handler(), "blocklist");
    assert_eq!(rejection.point(), "before_inbound");
    assert_eq!(lines(&trace), ["blocklist saw hello"]);
    assert_eq!(
        report.handler("rewriter").unwrap().status(),
        &HandlerStatus::Filtered(SkipReason::AfterRejection)
    );
}

/// How the hook of the matrix fails.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Error,
    Panic,
    Hang,
}

async fn faulty(fault: Fault) -> Result<Verdict<BeforeInboundPayload>, std::io::Error> {
    match fault {
        Fault::Error => Err(std::io::Error::other("the list is gone")),
        Fault::Panic => panic!("the list is torn"),
        Fault::Hang => std::future::pending().await,
    }
}

/// Fail-open passes what the other handlers made of the event; fail-closed
/// returns the error, which names the handler, its owner and the point.
#[tokio::test(start_paused = true)]
async fn l13_each_failure_under_each_failure_mode() {
    use FailurePolicy::{Closed, Open};
    use Fault::{Error, Hang, Panic};
    let at = "handler `checker` (plugin `lists`) at `before_inbound`";
    let table = [
        (Error, Open, "hello-HIGH-LOW".to_owned(), "error"),
        (Panic, Open, "hello-HIGH-LOW".to_owned(), "panic"),
        (Hang, Open, "hello-HIGH-LOW".to_owned(), "timeout"),
        (Error, Closed, format!("{at}: the list is gone"), "error"),
        (Panic, Closed, format!("{at}: panicked: the list is torn"), "panic"),
        (Hang, Closed, format!("{at}: did not finish within 200ms"), "timeout"),
    ];
    for (fault, policy, expected, kind) in table {
        let hooks = HookRegistry::new();
        hooks.register([mark("high", 10, "-HIGH"), mark("low", 200, "-LOW")]).unwrap();
        hooks
            .register(
                on::<BeforeInbound>()
                    .name("checker")
                    .plugin("lists")
                    .priority(100)
                    .on_failure(policy)
                    .timeout(Duration::from_millis(200))
                    .handler_with(fault, async |fault: &Fault, _: &BeforeInboundPayload| {
                        faulty(*fault).await
                    }),
            )
            .unwrap();
        assert_eq!(said(&hooks, "hello").await, expected, "{fault:?}, {policy}");

        let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
        let HandlerStatus::Failed { kind: told, policy: applied, .. } =
            report.handler("checker").unwrap().status()
        else {
            panic!("{fault:?}, {policy}: not reported as failed: {report}")
        };
        assert_eq!((*told, *applied), (kind, policy), "{fault:?}, {policy}");
        if policy == Closed {
            // An error is neither a rejection nor a pass.
            let error = outcome.unwrap_err();
            let failure = error.failure().expect("a handler failed");
            assert_eq!(failure.handler(), "checker", "{fault:?}");
            assert_eq!(failure.kind().as_str(), kind, "{fault:?}");
            assert!(matches!(error, FireError::Failed(_)), "{fault:?}");
            assert_eq!(
                report.handler("low").unwrap().status(),
                &HandlerStatus::Filtered(SkipReason::AfterFailure),
            );
        } else {
            assert_eq!(outcome.unwrap(), Gate::Passed(inbound("hello-HIGH-LOW")), "{fault:?}");
        }
    }
}

/// A hook may take longer than the point's five seconds if it says so.
#[tokio::test(start_paused = true)]
async fn l14_a_handlers_own_limit_takes_the_place_of_the_points() {
    for (limit, expected) in [(30, "slow"), (7, "hello")] {
        let hooks = HookRegistry::new();
        hooks
            .register(on::<BeforeInbound>().timeout(Duration::from_secs(limit)).handler(
                async |_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                    tokio::time::sleep(Duration::from_secs(8)).await;
                    Verdict::Replace(inbound("slow"))
                },
            ))
            .unwrap();
        assert_eq!(said(&hooks, "hello").await, expected, "limit {limit} s");
    }
}

#[tokio::test]
async fn l10_a_hook_for_outbound_leaves_inbound_alone() {
    let hooks = HookRegistry::new();
    hooks
        .register_gating::<BeforeOutbound>(
            async |_: &BeforeOutboundPayload| -> Verdict<BeforeOutboundPayload> {
                Verdict::reject("nothing goes out")
            },
        )
        .unwrap();
    assert_eq!(said(&hooks, "hello").await, "hello");
    let gate = hooks.fire_gating::<BeforeOutbound>(outbound("hello")).await.unwrap();
    assert!(matches!(gate, Gate::Rejected(rejection) if rejection.reason() == "nothing goes out"));
}

#[tokio::test]
async fn l17_unregistering_says_whether_it_removed_anything() {
    let hooks = HookRegistry::new();
    let handles = hooks.register([mark("high", 10, "-HIGH"), mark("low", 200, "-LOW")]).unwrap();
    assert_eq!(said(&hooks, "hello").await, "hello-HIGH-LOW");
    assert_eq!(handles[0].unregister().removed(), 1, "it was there");
    assert_eq!(handles[0].unregister().removed(), 0, "it is gone already");
    assert_eq!(said(&hooks, "hello").await, "hello-LOW");
    assert_eq!(handles.unregister().removed(), 1, "one of the two was left");
    assert_eq!(said(&hooks, "hello").await, "hello");

    assert_eq!(hooks.unregister_plugin("nobody").removed(), 0);
}

/// One hook of IronClaw that listens to several points, as a plugin: state
/// shared, and for each point its own name, failure mode and time limit.
struct Redactor {
    secret: &'static str,
}

impl Redactor {
    fn clean(&self, text: &str) -> String {
        text.replace(self.secret, "…")
    }
}

#[hook_handlers(plugin = "redactor")]
impl Redactor {
    #[hook_handler(BeforeInbound, name = "redact-in", priority = 10)]
    fn inbound(&self, message: &BeforeInboundPayload) -> Verdict<BeforeInboundPayload> {
        let content = self.clean(&message.content);
        Verdict::Replace(BeforeInboundPayload { content, ..message.clone() })
    }

    #[hook_handler(BeforeOutbound, name = "redact-out", on_failure = "closed", timeout = "2s")]
    async fn outbound(&self, message: &BeforeOutboundPayload) -> Verdict<BeforeOutboundPayload> {
        if message.content.is_empty() {
            std::future::pending::<()>().await;
        }
        let content = self.clean(&message.content);
        Verdict::Replace(BeforeOutboundPayload { content, ..message.clone() })
    }

    #[hook_handler(OnSessionEnd, guard)]
    fn keep_open(&self, end: &OnSessionEndPayload, cx: &HookContext) -> Verdict {
        Verdict::reject(format!("{} at {} keeps {}", cx.handler(), cx.point(), end.session_id))
    }
}

#[tokio::test(start_paused = true)]
async fn l18_a_hook_of_several_points_is_one_plugin() {
    let hooks = HookRegistry::new();
    let redactor = hooks.install(Redactor { secret: "hunter2" }).unwrap();
    let names: Vec<_> = redactor.handles().iter().map(|handle| handle.name().unwrap()).collect();
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    assert_eq!(names, ["redact-in", "redact-out", "keep_open"]);

    assert_eq!(said(&hooks, "my password is hunter2").await, "my password is …");

    let gate = hooks.fire_gating::<BeforeOutbound>(outbound("hunter2!")).await.unwrap();
    assert_eq!(gate, Gate::Passed(outbound("…!")));

    // Its failure mode and its limit are those of this one method.
    let error = hooks.fire_gating::<BeforeOutbound>(outbound("")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `redact-out` (plugin `redactor`) at `before_outbound`: did not finish within 2s"
    );

    let end = OnSessionEndPayload {
        user_id: "user-1".into(),
        session_id: "s1".into(),
        thread_ids: Vec::new(),
    };
    let Gate::Rejected(rejection) = hooks.fire_gating::<OnSessionEnd>(end).await.unwrap() else {
        panic!("let through")
    };
    assert_eq!(
        rejection.to_string(),
        "rejected at `on_session_end` by `keep_open` (plugin `redactor`): \
         keep_open at on_session_end keeps s1"
    );

    redactor.uninstall().await.into_result().unwrap();
    assert_eq!(said(&hooks, "hunter2").await, "hunter2");
}

/// The same as plain functions. The payload types of two points differ, so
/// what they share is a function of the part they have in common.
fn shouted(text: &str) -> String {
    text.to_uppercase()
}

#[hook_handler(BeforeInbound, name = "shout")]
fn shout_in(message: &BeforeInboundPayload) -> Verdict<BeforeInboundPayload> {
    Verdict::Replace(BeforeInboundPayload { content: shouted(&message.content), ..message.clone() })
}

#[hook_handler(TransformResponse, name = "shout")]
fn shout_back(answer: &TransformResponsePayload) -> Verdict<TransformResponsePayload> {
    Verdict::Replace(TransformResponsePayload {
        response: shouted(&answer.response),
        ..answer.clone()
    })
}

/// One function that does not look at the event can be registered as it is.
fn closed_for_the_night<P>(_: &P) -> Verdict {
    Verdict::reject("closed for the night")
}

#[tokio::test]
async fn l18_a_hook_of_several_points_is_several_functions_with_one_name() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![shout_in, shout_back]).unwrap();
    assert_eq!(said(&hooks, "hello").await, "HELLO");
    let answer = |response: &str| TransformResponsePayload {
        user_id: "user-1".into(),
        thread_id: "t1".into(),
        response: response.into(),
    };
    let gate = hooks.fire_gating::<TransformResponse>(answer("done")).await.unwrap();
    assert_eq!(gate, Gate::Passed(answer("DONE")));

    hooks
        .register([
            on::<BeforeInbound>().name("night").guard(closed_for_the_night),
            on::<TransformResponse>().name("night").guard(closed_for_the_night),
        ])
        .unwrap();
    assert_eq!(
        said(&hooks, "hello").await,
        "rejected at `before_inbound` by `night` (built-in): closed for the night"
    );
    let gate = hooks.fire_gating::<TransformResponse>(answer("done")).await.unwrap();
    assert!(matches!(gate, Gate::Rejected(rejection) if rejection.handler() == "night"));
}
