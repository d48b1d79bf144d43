//! Faults that IronClaw's hooks have, each as a case that must not come back.
//! Its panics are in `ironclaw_panics.rs`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hooks_points::lifecycle::*;
use hooks_runtime::error::FailureKind;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{
    BoxError, FailurePolicy, Gate, HookRegistry, Registration, Verdict, hook_handler, hook_points,
    on,
};
use serde_json::json;

fn inbound(content: &str) -> BeforeInboundPayload {
    BeforeInboundPayload {
        user_id: "user-1".into(),
        channel: "cli".into(),
        content: content.into(),
        thread_id: None,
    }
}

fn rewriter(name: &'static str, from: &'static str, to: &'static str) -> Registration {
    on::<BeforeInbound>().name(name).handler(
        move |message: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
            let content = message.content.replace(from, to);
            Verdict::Replace(BeforeInboundPayload { content, ..message.clone() })
        },
    )
}

/// The handlers of a report with what became of each.
macro_rules! rows {
    ($report:expr) => {
        $report
            .handlers()
            .iter()
            .map(|row| (row.handler(), row.status().clone()))
            .collect::<Vec<_>>()
    };
}

/// There a hook approves a text that a later hook then replaces. Here guards
/// come last, whatever the priorities and the order of registration say.
#[tokio::test]
async fn l10_a_late_rewriter_cannot_slip_past_an_early_guard() {
    let guard = || {
        on::<BeforeInbound>().name("no_keys").priority(-1000).guard(
            |message: &BeforeInboundPayload| {
                if message.content.contains("KEY") {
                    Verdict::reject(format!("`{}` has a key in it", message.content))
                } else {
                    Verdict::Pass
                }
            },
        )
    };
    let late = || {
        on::<BeforeInbound>().name("template").priority(1000).handler(
            |message: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                let content = message.content.replace("$K", "KEY");
                Verdict::Replace(BeforeInboundPayload { content, ..message.clone() })
            },
        )
    };
    for group in [[guard(), late()], [late(), guard()]] {
        let hooks = HookRegistry::new();
        hooks.register(group).unwrap();
        let (outcome, report) =
            hooks.fire_gating_reported::<BeforeInbound>(inbound("take $K")).await;
        let Gate::Rejected(rejection) = outcome.unwrap() else { panic!("slipped past: {report}") };
        assert_eq!(rejection.reason(), "`take KEY` has a key in it");
        assert_eq!(
            rows!(report),
            [
                ("template", HandlerStatus::Ran(Contribution::Replaced)),
                (
                    "no_keys",
                    HandlerStatus::Ran(Contribution::Rejected("`take KEY` has a key in it".into()))
                ),
            ]
        );
    }
}

/// There `Err(Rejected)` of a fail-open hook is swallowed with its errors.
/// Here a rejection is a verdict, which the failure policy never sees.
#[tokio::test]
async fn l10_a_rejection_of_a_fail_open_handler_rejects() {
    for policy in [FailurePolicy::Open, FailurePolicy::Closed] {
        let hooks = HookRegistry::new();
        hooks
            .register(on::<BeforeInbound>().name("blocklist").on_failure(policy).handler(
                |_: &BeforeInboundPayload| -> Result<Verdict<BeforeInboundPayload>, BoxError> {
                    Ok(Verdict::reject("on the list"))
                },
            ))
            .unwrap();
        let gate = hooks.fire_gating::<BeforeInbound>(inbound("hello")).await.unwrap();
        assert!(
            matches!(gate, Gate::Rejected(ref rejection) if rejection.reason() == "on the list"),
            "{policy}: {gate:?}"
        );
    }
}

/// An error that calls itself a rejection stays an error: no word in it is
/// read. The failed handler did not pass the event either.
#[tokio::test]
async fn l10_an_error_is_read_neither_as_a_rejection_nor_as_a_pass() {
    #[derive(Debug)]
    struct Rejected;
    impl fmt::Display for Rejected {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("rejected: not welcome")
        }
    }
    impl std::error::Error for Rejected {}

    #[hook_handler(BeforeInbound, guard)]
    fn open(_: &BeforeInboundPayload) -> Result<Verdict, Rejected> {
        Err(Rejected)
    }
    #[hook_handler(BeforeInbound, guard, on_failure = "closed")]
    fn closed(_: &BeforeInboundPayload) -> Result<Verdict, Rejected> {
        Err(Rejected)
    }

    let failed = |policy| HandlerStatus::Failed {
        kind: "error",
        message: "rejected: not welcome".into(),
        policy,
    };

    let hooks = HookRegistry::new();
    hooks.register(hooks_runtime::handlers![open]).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
    assert_eq!(outcome.unwrap(), Gate::Passed(inbound("hello")));
    assert_eq!(rows!(report), [("open", failed(FailurePolicy::Open))]);

    hooks.register(hooks_runtime::handlers![closed]).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
    let error = outcome.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `closed` (built-in) at `before_inbound`: rejected: not welcome"
    );
    assert_eq!(
        rows!(report),
        [("open", failed(FailurePolicy::Open)), ("closed", failed(FailurePolicy::Closed))]
    );
    // The handler's own error is to be had with its own type.
    let Some(FailureKind::Error(own)) = error.failure().map(|failure| failure.kind()) else {
        panic!("{error:?}")
    };
    assert!(own.is::<Rejected>());
}

/// A thread that is blocked cannot be given up on. What it says in the end
/// counts, so that no redaction is lost, and how late it was is reported.
#[tokio::test]
async fn l14_a_handler_that_blocks_past_its_limit_is_reported_as_late() {
    const LIMIT: Duration = Duration::from_millis(2);
    fn block() -> Verdict<BeforeInboundPayload> {
        let since = Instant::now();
        while since.elapsed() <= LIMIT {
            std::hint::spin_loop();
        }
        Verdict::Replace(inbound("late"))
    }
    let sync = || {
        on::<BeforeInbound>()
            .name("blocks")
            .timeout(LIMIT)
            .handler(|_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> { block() })
    };
    let async_from_the_start = || {
        on::<BeforeInbound>()
            .name("blocks")
            .timeout(LIMIT)
            .handler(async |_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> { block() })
    };
    let async_later = || {
        on::<BeforeInbound>().name("blocks").timeout(LIMIT).handler(
            async |_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                tokio::task::yield_now().await;
                block()
            },
        )
    };
    for blocks in [sync(), async_from_the_start(), async_later()] {
        let hooks = HookRegistry::new();
        hooks.register(blocks).unwrap();
        let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
        assert_eq!(outcome.unwrap(), Gate::Passed(inbound("late")));
        assert_eq!(rows!(report), [("blocks", HandlerStatus::Ran(Contribution::Replaced))]);
        let row = &report.handlers()[0];
        assert_eq!(row.overrun(), Some(row.elapsed().unwrap() - LIMIT));
    }
}

/// There new parameters that are not JSON are dropped without a word, even
/// when the hook is fail-closed, and the call goes ahead with the old ones.
#[tokio::test]
async fn l13_replacement_parameters_that_are_not_json_are_a_failure() {
    fn hook(policy: FailurePolicy) -> Registration {
        on::<BeforeToolCall>().name("jail").on_failure(policy).handler(
            |call: &BeforeToolCallPayload| -> Result<Verdict<_>, InvalidParameters> {
                let text = call.parameters["path"].as_str().unwrap_or_default();
                Ok(Verdict::Replace(call.with_parameters_text(text)?))
            },
        )
    }
    let call = |path: &str| BeforeToolCallPayload {
        tool_name: "read_file".into(),
        parameters: json!({ "path": path }),
        user_id: "user-1".into(),
        context: "chat".into(),
    };

    let hooks = HookRegistry::new();
    hooks.register(hook(FailurePolicy::Closed)).unwrap();
    let error = hooks.fire_gating::<BeforeToolCall>(call("/etc/passwd")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "handler `jail` (built-in) at `before_tool_call`: \
         the new parameters of `read_file` are not JSON"
    );
    let gate = hooks.fire_gating::<BeforeToolCall>(call(r#"{"path":"/srv"}"#)).await.unwrap();
    let Gate::Passed(passed) = gate else { panic!("{gate:?}") };
    assert_eq!(passed.parameters, json!({ "path": "/srv" }));

    // Fail-open goes on without the hook, and says so.
    let hooks = HookRegistry::new();
    hooks.register(hook(FailurePolicy::Open)).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<BeforeToolCall>(call("/etc/passwd")).await;
    assert_eq!(outcome.unwrap(), Gate::Passed(call("/etc/passwd")));
    assert_eq!(
        rows!(report),
        [(
            "jail",
            HandlerStatus::Failed {
                kind: "error",
                message: "the new parameters of `read_file` are not JSON".into(),
                policy: FailurePolicy::Open,
            }
        )]
    );
}

/// There a caller that compares before and after sees nothing.
#[tokio::test]
async fn l21_changing_a_payload_and_changing_it_back_shows_in_the_report() {
    let hooks = HookRegistry::new();
    hooks.register([rewriter("there", "hello", "bye"), rewriter("back", "bye", "hello")]).unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
    assert_eq!(outcome.unwrap(), Gate::Passed(inbound("hello")));
    assert_eq!(
        rows!(report),
        [
            ("there", HandlerStatus::Ran(Contribution::Replaced)),
            ("back", HandlerStatus::Ran(Contribution::Replaced)),
        ]
    );
}

/// A payload of which there is only one: not `Clone`, and known by where its
/// bytes are.
#[derive(Debug)]
struct Upload {
    bytes: Box<[u8]>,
}

hook_points! {
    /// Before a file is stored.
    gating BeforeStore(Upload);
}

#[tokio::test]
async fn l10_the_payload_comes_back_itself_when_no_handler_replaces_it() {
    #[hook_handler(BeforeStore)]
    async fn looks(_: &Upload) -> Verdict<Upload> {
        tokio::task::yield_now().await;
        Verdict::Pass
    }
    #[hook_handler(BeforeStore, guard)]
    fn approves(upload: &Upload) -> Verdict {
        if upload.bytes.is_empty() { Verdict::reject("empty") } else { Verdict::Pass }
    }

    let hooks = HookRegistry::new();
    for listening in [false, true] {
        if listening {
            hooks.register(hooks_runtime::handlers![looks, approves]).unwrap();
        }
        let upload = Upload { bytes: [1, 2, 3].into() };
        let place = upload.bytes.as_ptr();
        let Gate::Passed(passed) = hooks.fire_gating::<BeforeStore>(upload).await.unwrap() else {
            panic!("rejected")
        };
        assert_eq!(passed.bytes.as_ptr(), place, "listening: {listening}");

        let (outcome, _) = hooks.fire_gating_reported::<BeforeStore>(passed).await;
        let Gate::Passed(passed) = outcome.unwrap() else { panic!("rejected") };
        assert_eq!(passed.bytes.as_ptr(), place, "listening: {listening}, reported");
    }
}

/// There a call site with a wildcard arm let fail-closed errors through. Here
/// the payload is in one place only: these two arms are all of them, and an
/// error has no arm, it has to be dealt with first.
#[tokio::test]
async fn l15_the_payload_is_to_be_had_only_where_the_gate_passed_it() {
    static USED: AtomicUsize = AtomicUsize::new(0);
    async fn host(hooks: &HookRegistry) -> Result<Option<String>, BoxError> {
        match hooks.fire_gating::<BeforeInbound>(inbound("hello")).await? {
            Gate::Passed(message) => {
                USED.fetch_add(1, Ordering::Relaxed);
                Ok(Some(message.content))
            }
            Gate::Rejected(_) => Ok(None),
        }
    }
    let hooks = HookRegistry::new();
    assert_eq!(host(&hooks).await.unwrap().as_deref(), Some("hello"));
    let failing = hooks
        .register(on::<BeforeInbound>().on_failure(FailurePolicy::Closed).guard(
            |_: &BeforeInboundPayload| -> Result<Verdict, &'static str> { Err("the list is gone") },
        ))
        .unwrap();
    host(&hooks).await.unwrap_err();
    failing.unregister();
    hooks
        .register(on::<BeforeInbound>().guard(|_: &BeforeInboundPayload| Verdict::reject("no")))
        .unwrap();
    assert_eq!(host(&hooks).await.unwrap(), None);
    assert_eq!(USED.load(Ordering::Relaxed), 1);
}

/// There a hook that a rejection leaves out is not reported anywhere.
#[tokio::test]
async fn l21_every_handler_of_the_point_has_a_row() {
    let hooks = HookRegistry::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    hooks
        .register([
            rewriter("first", "hello", "bye"),
            on::<BeforeInbound>().name("rejects").handler(
                |_: &BeforeInboundPayload| -> Verdict<BeforeInboundPayload> {
                    Verdict::reject("no")
                },
            ),
            rewriter("second", "bye", "hello"),
            on::<BeforeInbound>().name("foreign").plugin("lists").guard(
                move |_: &BeforeInboundPayload| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    Verdict::Pass
                },
            ),
        ])
        .unwrap();
    let (outcome, report) = hooks.fire_gating_reported::<BeforeInbound>(inbound("hello")).await;
    assert!(matches!(outcome.unwrap(), Gate::Rejected(_)));
    assert_eq!(
        rows!(report),
        [
            ("first", HandlerStatus::Ran(Contribution::Replaced)),
            ("rejects", HandlerStatus::Ran(Contribution::Rejected("no".into()))),
            ("second", HandlerStatus::Filtered(SkipReason::AfterRejection)),
            ("foreign", HandlerStatus::Filtered(SkipReason::AfterRejection)),
        ]
    );
    assert_eq!(report.handlers()[2].elapsed(), None);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}
