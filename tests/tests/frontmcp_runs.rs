//! Whole runs of a flow: reported, inside another, dropped on the way, on
//! another thread, too deep.

mod flow_support;

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use flow_support::*;
use futures::FutureExt as _;
use hooks_runtime::flow::{FlowReport, StageKind};
use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::point::ModelKind;
use hooks_runtime::report::{Contribution, HandlerStatus, SkipReason};
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, FailurePolicy, Finally,
    FireError, FlowContext, FlowError, HookRegistry, OnError, Plugins, hook_points, on,
};

/// The report, a line for each stage and each handler.
fn told_by(report: &FlowReport) -> Vec<String> {
    report
        .stages()
        .iter()
        .flat_map(|stage| {
            let rows = stage.handlers().iter();
            let rows = rows.map(|row| format!("  {} {}", row.handler(), row.status()));
            std::iter::once(stage.point().to_owned()).chain(rows)
        })
        .collect()
}

struct SearchTool;

#[tokio::test]
async fn l21_a_report_has_every_stage_and_every_handler() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            at(StageKind::BeforeValidation, "skips", |flow| {
                flow.skip();
                Ok(())
            }),
            at(StageKind::BeforeValidation, "is skipped", |_| Ok(())),
            on::<BeforeExecute<RunTool>>()
                .name("embedded")
                .target::<SearchTool>()
                .handler(|_: &mut Context| ()),
            on::<BeforeExecute<RunTool>>()
                .name("foreign")
                .plugin("audit")
                .handler(|_: &mut Context| ()),
            at(StageKind::AfterExecute, "aborts", |flow| {
                flow.abort("closed for today");
                Ok(())
            }),
            at(StageKind::AfterExecute, "is left out", |_| Ok(())),
            at(StageKind::OnError, "fails", |_| Err(DiskFull { missing: 3 })),
            at(StageKind::Finally, "ends", |_| Ok(())),
        ])
        .unwrap();
    let (outcome, report) = hooks
        .scope(Plugins::BuiltIn)
        .flow::<RunTool>()
        .run_reported(call("ls"), async |Call(text)| Ok::<_, DiskFull>(Answer(text)))
        .await;
    assert!(matches!(outcome, Err(FlowError::Aborted { stage: StageKind::AfterExecute, .. })));
    assert_eq!(report.flow(), "tools:run");
    assert_eq!(
        told_by(&report),
        [
            "tools:run/beforeValidation",
            "  skips skipped the rest of the stage",
            "  is skipped not called: an earlier handler skipped the rest of the stage",
            // No handler is registered at after_validation.
            "tools:run/beforeExecute",
            "  embedded not called: bound to another target",
            "  foreign not called: its plugin is not in scope",
            "tools:run/afterExecute",
            "  aborts aborted: closed for today",
            "  is left out not called: an earlier handler aborted the flow",
            "tools:run/onError",
            "  fails error, fail-open: 3 bytes short",
            "tools:run/finally",
            "  ends ran",
        ]
    );
    let [.., after, _, _] = report.stages() else { panic!("{report}") };
    assert_eq!(after.model(), ModelKind::Stage);
    assert_eq!(
        after.handler("aborts").unwrap().status(),
        &HandlerStatus::Ran(Contribution::Aborted("closed for today".into()))
    );
    let left_out = after.handler("is left out").unwrap();
    assert_eq!(left_out.status(), &HandlerStatus::Filtered(SkipReason::AfterAbort));
    assert_eq!(left_out.elapsed(), None);
}

#[tokio::test]
async fn l21_a_report_of_a_run_that_fails_closed() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            at(StageKind::BeforeExecute, "fails", |_| Err(DiskFull { missing: 3 })),
            at(StageKind::BeforeExecute, "is left out", |_| Ok(())),
            at(StageKind::AfterExecute, "never reached", |_| Ok(())),
        ])
        .unwrap();
    let (outcome, report) = hooks
        .flow::<RunTool>()
        .run_reported(call("ls"), async |Call(text)| Ok::<_, DiskFull>(Answer(text)))
        .await;
    assert!(matches!(outcome, Err(FlowError::Fire(FireError::Failed(_)))));
    assert_eq!(
        told_by(&report),
        [
            "tools:run/beforeExecute",
            "  fails error, fail-closed: 3 bytes short",
            "  is left out not called: an earlier handler failed closed",
        ]
    );
}

/// Where the outcome stands an abort is the handler's own failure, and a
/// failure is in the report.
#[tokio::test]
async fn l21_an_abort_in_on_error_and_finally_is_reported_as_a_failure() {
    let hooks = HookRegistry::new();
    for stage in [StageKind::OnError, StageKind::Finally] {
        hooks
            .register(at(stage, "aborts", |flow| {
                flow.abort("closed for today");
                Ok(())
            }))
            .unwrap();
    }
    let (_, report) = hooks
        .flow::<RunTool>()
        .run_reported(call("ls"), async |_| Err(DiskFull { missing: 7 }))
        .await;
    for stage in report.stages() {
        assert_eq!(
            stage.handler("aborts").unwrap().status(),
            &HandlerStatus::Failed {
                kind: "error",
                message: "closed for today".into(),
                policy: FailurePolicy::Open,
            },
            "{}",
            stage.point()
        );
    }
}

/// A flow in another's operation: its stages in the midst, its error with its
/// type inside the other's.
#[tokio::test]
async fn l26_a_flow_runs_inside_another_flows_operation() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let (before, after, error) = (trace.clone(), trace.clone(), trace.clone());
    hooks
        .register([
            on::<BeforeExecute<PrintPage>>()
                .handler(move |_: &mut FlowContext<PrintPage>| before.note("print…")),
            on::<AfterExecute<PrintPage>>()
                .handler(move |_: &mut FlowContext<PrintPage>| after.note("…printed")),
            on::<OnError<PrintPage>>().handler(move |flow: &mut FlowContext<PrintPage>| {
                let inner = flow.operation_error::<FlowError>();
                let own = inner.and_then(FlowError::downcast_ref::<DiskFull>).unwrap();
                error.note(format!("…jammed, {} bytes short", own.missing));
            }),
        ])
        .unwrap();

    let inner = |page: Call, missing: u32| {
        hooks.run_flow::<RunTool, _>(page, async move |Call(text)| match missing {
            0 => Ok(Answer(text)),
            missing => Err(DiskFull { missing }),
        })
    };
    let outcome = hooks.run_flow::<PrintPage, _>(call("page 1"), async |page| inner(page, 0).await);
    assert_eq!(outcome.await.unwrap(), Answer("page 1".into()));
    assert_eq!(
        trace.take().join(" "),
        "print… beforeValidation + afterValidation + beforeExecute + afterExecute + finally + \
         …printed"
    );

    let outcome = hooks.run_flow::<PrintPage, _>(call("page 2"), async |page| inner(page, 9).await);
    let inner = outcome.await.unwrap_err().downcast::<FlowError>().unwrap();
    assert_eq!(inner.downcast::<DiskFull>().unwrap(), DiskFull { missing: 9 });
    assert_eq!(
        trace.take().join(" "),
        "print… beforeValidation + afterValidation + beforeExecute + onError + finally + \
         …jammed, 9 bytes short"
    );
}

/// A run of the same flow inside itself has a state of its own.
#[tokio::test]
async fn l11_a_run_inside_a_run_of_the_same_flow_shares_no_state() {
    let trace = Trace::default();
    let hooks = HookRegistry::new();
    let noting = trace.clone();
    hooks
        .register([
            at(StageKind::BeforeExecute, "enter", |flow| {
                let Call(text) = flow.input().unwrap().clone();
                assert_eq!(flow.state_mut().insert(text), None);
                Ok(())
            }),
            at(StageKind::Finally, "leave", move |flow| {
                noting.note(flow.state().get::<String>().unwrap());
                Ok(())
            }),
        ])
        .unwrap();
    let within = hooks.clone();
    let outcome = hooks
        .run_flow::<RunTool, _>(call("outer"), async move |_| {
            let echo = async |Call(text)| Ok::<_, DiskFull>(Answer(text));
            within.run_flow::<RunTool, _>(call("inner"), echo).await
        })
        .await;
    assert_eq!(outcome.unwrap(), Answer("inner".into()));
    assert_eq!(trace.take(), ["inner", "outer"]);
}

/// A tool that calls itself without end.
fn endless(hooks: HookRegistry) -> Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>> {
    Box::pin(async move {
        let within = hooks.clone();
        let outcome =
            hooks.run_flow::<RunTool, _>(call("again"), async move |_| endless(within).await).await;
        outcome.map_err(|error| error.to_string())
    })
}

#[tokio::test]
async fn l26_flows_nested_too_deep_are_refused_with_the_chain() {
    let hooks = HookRegistry::builder().max_depth(3).build();
    assert_eq!(
        endless(hooks).await.unwrap_err(),
        "fires are nested deeper than 3: tools:run > tools:run > tools:run > tools:run; end the \
         recursion, or raise `max_depth` of the builder"
    );
}

/// A run at the limit is refused before it starts, or it runs to its end.
/// What must not be is an operation that ran with no finally after it.
#[tokio::test]
async fn l11_at_the_depth_limit_finally_runs_if_anything_ran() {
    for depth in 1..=3 {
        let trace = Trace::default();
        let hooks = HookRegistry::builder().max_depth(depth).build();
        let (finally, operating) = (trace.clone(), trace.clone());
        hooks
            .register(at(StageKind::Finally, "finally", move |_| {
                finally.note("finally");
                Ok(())
            }))
            .unwrap();
        let outcome = hooks
            .run_flow::<RunTool, _>(call("ls"), async move |Call(text)| {
                operating.note("operation");
                Ok::<_, DiskFull>(Answer(text))
            })
            .await;
        let ran = trace.take();
        match outcome {
            Ok(_) => assert_eq!(ran, ["operation", "finally"], "depth {depth}"),
            Err(error) => {
                assert!(matches!(error, FlowError::Fire(FireError::Nesting { .. })), "{error}");
                assert_eq!(ran, [""; 0], "depth {depth}");
            }
        }
    }
}

/// A payload that is counted: nothing may keep it once a run is gone.
struct Counted(Arc<()>);

hook_points! {
    /// A flow whose input can be counted.
    flow Carry(Counted) -> Counted;
}

/// Gives a handler that waits for ever at one stage, holding a counted value
/// in its future and one in the state.
macro_rules! waits_at {
    ($count:expr, $trace:expr, [$($stage:ident),*], $here:expr) => {
        [$({
            let (count, trace) = (Arc::clone($count), $trace.clone());
            let waits = $here == stringify!($stage);
            on::<hooks_runtime::$stage<Carry>>().name("waits").plugin("porter").handler_with(
                (count, trace, waits),
                async |(count, trace, waits): &(Arc<()>, Trace, bool), flow: &mut FlowContext<Carry>| {
                    trace.note(flow.stage());
                    flow.state_mut().insert(Arc::clone(count));
                    let _held = Arc::clone(count);
                    if *waits {
                        pending::<()>().await;
                    }
                },
            )
        }),*]
    };
}

/// Dropping a run ends it where it is: no later stage runs, finally neither,
/// everything it held is gone, and its plugin can be unloaded at once.
#[tokio::test]
async fn l25_a_dropped_run_runs_no_finally_and_leaks_nothing() {
    let table = [
        ("BeforeValidation", "beforeValidation"),
        ("AfterValidation", "beforeValidation afterValidation"),
        ("BeforeExecute", "beforeValidation afterValidation beforeExecute"),
        ("operation", "beforeValidation afterValidation beforeExecute operation"),
        ("AfterExecute", "beforeValidation afterValidation beforeExecute operation afterExecute"),
        ("OnError", "beforeValidation afterValidation beforeExecute operation onError"),
        // It has begun, and is not begun again.
        (
            "Finally",
            "beforeValidation afterValidation beforeExecute operation afterExecute finally",
        ),
    ];
    for (here, expected) in table {
        let (count, trace) = (Arc::new(()), Trace::default());
        let hooks = HookRegistry::new();
        hooks
            .register(waits_at!(
                &count,
                trace,
                [BeforeValidation, AfterValidation, BeforeExecute, AfterExecute, OnError, Finally],
                here
            ))
            .unwrap();
        let at_rest = Arc::strong_count(&count);

        let operating = trace.clone();
        let mut run = Box::pin(hooks.run_flow::<Carry, _>(
            Counted(Arc::clone(&count)),
            async move |Counted(count)| {
                operating.note("operation");
                match here {
                    "operation" => pending().await,
                    "OnError" => Err("out of paper"),
                    _ => Ok(Counted(count)),
                }
            },
        ));
        assert!(futures::poll!(run.as_mut()).is_pending(), "{here}");
        assert!(Arc::strong_count(&count) > at_rest, "{here}: it holds something");
        let removal = hooks.unregister_plugin("porter");
        let running = usize::from(here != "operation");
        assert_eq!(removal.running().len(), running, "{here}");
        drop(run);
        assert_eq!(trace.take().join(" "), expected, "{here}");
        assert_eq!(removal.running().len(), 0, "{here}");
        let drained = (&removal).into_future().now_or_never();
        assert_eq!(drained.map(DrainOutcome::into_result), Some(Ok(())), "{here}");
        drop(removal);
        assert_eq!(Arc::strong_count(&count), 1, "{here}: all of it is gone");

        // The registry works on.
        let echo = async |counted| Ok::<_, DiskFull>(counted);
        let Counted(back) =
            hooks.run_flow::<Carry, _>(Counted(Arc::clone(&count)), echo).await.unwrap();
        assert!(Arc::ptr_eq(&back, &count), "{here}");
    }
}

/// A run that was never polled has not begun.
#[tokio::test]
async fn l25_a_run_that_is_not_polled_runs_nothing() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    drop(hooks.run_flow::<RunTool, _>(call("ls"), async |_| Err(DiskFull { missing: 7 })));
    assert_eq!(trace.take(), [""; 0]);
}

/// A run is a future like any other: it can go to another thread.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l24_a_run_can_be_spawned() {
    async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
        tokio::task::yield_now().await;
        Ok(Answer(text))
    }
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let run = tokio::spawn(async move { hooks.run_flow::<RunTool, _>(call("ls"), echo).await });
    assert_eq!(run.await.unwrap().unwrap(), Answer("ls".into()));
    assert_eq!(trace.take().iter().filter(|ran| *ran == "finally").count(), 1);
}

/// The same with an operation written in place, which borrows its host.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l24_a_run_with_an_async_closure_can_be_spawned() {
    let hooks = HookRegistry::new();
    let run = tokio::spawn(async move {
        let suffix = String::from("!");
        let suffix = &suffix;
        let outcome = hooks.run_flow::<RunTool, _>(call("ls"), async move |Call(text)| {
            tokio::task::yield_now().await;
            Ok::<_, DiskFull>(Answer(text + suffix))
        });
        outcome.await
    });
    assert_eq!(run.await.unwrap().unwrap(), Answer("ls!".into()));
}

#[tokio::test]
async fn l11_a_run_that_waits_in_every_stage_ends_all_the_same() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let yielding = async |_: &mut Context| tokio::task::yield_now().await;
    hooks.register_stage::<BeforeValidation<RunTool>>(yielding).unwrap();
    hooks.register_stage::<AfterValidation<RunTool>>(yielding).unwrap();
    hooks.register_stage::<BeforeExecute<RunTool>>(yielding).unwrap();
    hooks.register_stage::<AfterExecute<RunTool>>(yielding).unwrap();
    hooks.register_stage::<OnError<RunTool>>(yielding).unwrap();
    hooks.register_stage::<Finally<RunTool>>(yielding).unwrap();
    for (missing, expected) in [
        (0, "beforeValidation + afterValidation + beforeExecute + afterExecute + finally +"),
        (7, "beforeValidation + afterValidation + beforeExecute + onError + finally +"),
    ] {
        let outcome = hooks
            .run_flow::<RunTool, _>(call("ls"), async |Call(text)| {
                tokio::task::yield_now().await;
                if missing == 0 { Ok(Answer(text)) } else { Err(DiskFull { missing }) }
            })
            .await;
        assert_eq!(outcome.is_ok(), missing == 0);
        assert_eq!(trace.take().join(" "), expected);
    }
}

/// A handler that suspends is not polled again before something wakes the
/// run: else a handler that gives way to others would not.
#[tokio::test]
async fn l30_a_handler_is_polled_once_for_each_poll_of_the_run() {
    static POLLS: AtomicUsize = AtomicUsize::new(0);
    let hooks = HookRegistry::new();
    hooks
        .register_stage::<BeforeExecute<RunTool>>(async |_: &mut Context| {
            poll_fn(|_| match POLLS.fetch_add(1, Ordering::Relaxed) {
                0..3 => Poll::Pending,
                _ => Poll::Ready(()),
            })
            .await;
        })
        .unwrap();
    let mut run =
        Box::pin(hooks.run_flow::<RunTool, _>(call("ls"), async |Call(text)| {
            Ok::<_, DiskFull>(Answer(text))
        }));
    for polls in 1..=3 {
        assert!(futures::poll!(run.as_mut()).is_pending(), "poll {polls}");
        assert_eq!(POLLS.load(Ordering::Relaxed), polls, "poll {polls}");
    }
    assert!(futures::poll!(run.as_mut()).is_ready());
    assert_eq!(POLLS.load(Ordering::Relaxed), 4);
}
