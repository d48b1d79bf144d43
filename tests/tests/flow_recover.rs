//! How a handler of `OnError` turns a failure of the operation into an output
//! (L11).

mod flow_support;
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_support::*;
use hooks_runtime::flow::{FlowReport, StageKind};
use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{FlowContext, FlowError, HookRegistry, OnError, handlers, hook_handler, on};
use support::keep_quiet;

fn answer(text: &str) -> Answer {
    Answer(text.into())
}

async fn fails(_: Call) -> Result<Answer, DiskFull> {
    Err(DiskFull { missing: 7 })
}

async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
    Ok(Answer(text))
}

/// What the report says of each handler.
fn rows(report: &FlowReport) -> Vec<String> {
    let rows = report.stages().iter().flat_map(|stage| stage.handlers());
    rows.map(|row| format!("{}: {}", row.handler(), row.status())).collect()
}

/// A handler of `OnError` that recovers with its own name; whether it could.
fn recovers(name: &'static str, could: bool) -> hooks_runtime::Registration {
    at(StageKind::OnError, name, move |flow| {
        assert_eq!(flow.recover(answer(name)), could, "{name}");
        Ok(())
    })
}

#[hook_handler(OnError<RunTool>)]
fn fall_back(flow: &mut FlowContext<RunTool>) {
    flow.recover(Answer("unavailable".into()));
}

#[tokio::test]
async fn l11_a_recovery_is_the_output_of_the_flow() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![fall_back]).unwrap();
    let recovered = hooks.flow::<RunTool>().run(call("ls"), fails).await;
    assert_eq!(recovered.unwrap(), answer("unavailable"));
    let ran = hooks.flow::<RunTool>().run(call("ls"), echo).await;
    assert_eq!(ran.unwrap(), answer("ls"), "there is nothing to recover");
    let (recovered, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(recovered.unwrap(), answer("unavailable"));
    assert_eq!(rows(&report), ["fall_back: recovered"]);
    let recovery = report.recovery().unwrap();
    assert_eq!(
        (recovery.handler(), recovery.owner().to_string(), recovery.error()),
        ("fall_back", "built-in".to_owned(), "7 bytes short")
    );
    assert_eq!(report.operation().status().to_string(), "error: 7 bytes short");
}

/// A panic is a failure of the operation as well.
#[tokio::test]
async fn l11_a_panic_of_the_operation_can_be_recovered() {
    keep_quiet(&["no disk at all"]);
    let hooks = HookRegistry::new();
    hooks.register(handlers![fall_back]).unwrap();
    let panics = async |_| -> Result<Answer, DiskFull> { panic!("no disk at all") };
    let (recovered, report) = hooks.flow::<RunTool>().run_reported(call("ls"), panics).await;
    assert_eq!(recovered.unwrap(), answer("unavailable"));
    assert_eq!(report.recovery().unwrap().error(), "panicked: no disk at all");
}

/// Which stages run, and what each sees: `AfterExecute` is left out, the rest of
/// `OnError` sees the error still, and `Finally` runs once.
#[tokio::test]
async fn l11_the_later_handlers_and_finally_see_the_error_and_the_recovery() {
    let (hooks, trace) = (HookRegistry::new(), Trace::default());
    for stage in StageKind::ALL {
        for name in ["first", "second"] {
            let trace = trace.clone();
            let handler = at(stage, name, move |flow| {
                let error = flow.error().map(ToString::to_string);
                let seen = (flow.output().cloned(), error, flow.is_recovered());
                if let (Some(_), "first") = (flow.error(), name) {
                    let taken = flow.recover(answer("from first"));
                    assert_eq!(taken, stage == StageKind::OnError);
                    // Its own, until it has ended.
                    assert_eq!(flow.output_mut().is_some(), taken);
                } else {
                    assert_eq!(flow.output_mut(), None, "no handler changes another's");
                }
                trace.note(format_args!("{stage} {name} {seen:?}"));
                Ok(())
            });
            hooks.register(handler).unwrap();
        }
    }
    let outcome = hooks.flow::<RunTool>().run(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: from first");
    let nothing = "(None, None, false)";
    let recovered = r#"(Some(Answer("from first")), Some("7 bytes short"), true)"#;
    assert_eq!(
        trace.take(),
        [
            format!("beforeValidation first {nothing}"),
            format!("beforeValidation second {nothing}"),
            format!("afterValidation first {nothing}"),
            format!("afterValidation second {nothing}"),
            format!("beforeExecute first {nothing}"),
            format!("beforeExecute second {nothing}"),
            r#"onError first (None, Some("7 bytes short"), false)"#.to_owned(),
            format!("onError second {recovered}"),
            format!("finally first {recovered}"),
            format!("finally second {recovered}"),
        ]
    );
}

#[tokio::test]
async fn l11_the_first_recovery_stands_and_a_later_one_is_refused() {
    let hooks = HookRegistry::new();
    hooks.register([recovers("first", true), recovers("second", false)]).unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: first");
    assert_eq!(
        rows(&report),
        ["first: recovered", "second: recovery refused: an earlier handler recovered"]
    );
    assert_eq!(report.recovery().unwrap().handler(), "first");
}

#[tokio::test]
async fn l11_a_second_recovery_of_the_same_handler_is_refused() {
    let hooks = HookRegistry::new();
    let twice = at(StageKind::OnError, "twice", |flow| {
        assert!(flow.recover(answer("first")));
        assert!(!flow.recover(answer("second")));
        flow.output_mut().unwrap().0.push('!');
        Ok(())
    });
    hooks.register(twice).unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: first!");
    assert_eq!(rows(&report), ["twice: recovered, second recovery refused"]);
    assert_eq!(report.recovery().unwrap().handler(), "twice");
}

/// Nothing but a failure of the operation can be recovered.
#[tokio::test]
async fn l11_an_abort_a_refused_input_and_a_failed_stage_cannot_be_recovered() {
    let other = "last: recovery refused: it is not the operation that failed";
    for stage in &StageKind::ALL[..4] {
        for aborts in [true, false] {
            let hooks = HookRegistry::new();
            let ends = at(*stage, "ends", move |flow| {
                if !aborts {
                    return Err(DiskFull { missing: 3 });
                }
                flow.abort("closed");
                Ok(())
            });
            hooks.register([ends, recovers("last", false)]).unwrap();
            let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
            let error = outcome.unwrap_err();
            assert_eq!(matches!(error, FlowError::Aborted { .. }), aborts, "{error}");
            let ended =
                if aborts { "aborted: closed" } else { "error, fail-closed: 3 bytes short" };
            assert_eq!(rows(&report), [&format!("ends: {ended}"), other], "{stage}");
            assert_eq!(report.recovery(), None);
        }
    }
    let hooks = HookRegistry::new();
    hooks.register(recovers("last", false)).unwrap();
    let refused = hooks.flow::<RunTool>().validate(|_| Err("it is empty"));
    let (outcome, report) = refused.run_reported(call(""), echo).await;
    assert_eq!(told(&outcome), "the input of `tools:run` is not valid: it is empty");
    assert_eq!(rows(&report), [other]);
}

/// A run that cannot start has no stage in which it could be recovered. To the run
/// around it, that is a failure of the operation like any other.
#[tokio::test]
async fn l11_a_run_that_is_nested_too_deep_is_not_recovered() {
    let hooks = HookRegistry::builder().max_depth(1).build();
    hooks.register(recovers("outer", true)).unwrap();
    let nested = async |_| {
        let nested = hooks.flow::<RunTool>().run(call("ls"), fails).await;
        assert!(matches!(nested, Err(FlowError::Fire(_))), "{nested:?}");
        nested
    };
    let outer = hooks.flow::<RunTool>().run(call("ls"), nested).await;
    assert_eq!(told(&outer), "answered: outer");
}

#[tokio::test]
async fn l11_a_recovery_in_another_stage_is_refused_visibly() {
    let elsewhere = "recovery refused: only a handler of onError can recover";
    for stage in StageKind::ALL {
        if stage == StageKind::OnError {
            continue;
        }
        let hooks = HookRegistry::new();
        let asks = at(stage, "asks", |flow| {
            let before = flow.output().cloned();
            assert!(!flow.recover(answer("not here")));
            assert_eq!(flow.output().cloned(), before);
            Ok(())
        });
        hooks.register(asks).unwrap();
        let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
        assert_eq!(told(&outcome), "answered: ls", "{stage}");
        assert_eq!(rows(&report), [format!("asks: {elsewhere}")], "{stage}");
    }
    // In `Finally` of a flow that failed it is too late.
    let hooks = HookRegistry::new();
    let late = at(StageKind::Finally, "late", |flow| {
        assert!(!flow.recover(answer("too late")));
        Ok(())
    });
    hooks.register(late).unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "7 bytes short");
    assert_eq!(rows(&report), [format!("late: {elsewhere}")]);
}

/// What else the handler asks for is done, and is in the report.
#[tokio::test]
async fn l11_a_handler_can_recover_and_skip_and_its_answer_is_refused_still() {
    let hooks = HookRegistry::new();
    let skips = at(StageKind::OnError, "skips", |flow| {
        assert!(flow.recover(answer("recovered")));
        assert!(!flow.respond(answer("not an answer")));
        flow.skip();
        Ok(())
    });
    hooks.register([skips, recovers("second", false)]).unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: recovered");
    assert_eq!(
        rows(&report),
        [
            "skips: answer refused: the outcome stands already",
            "second: not called: an earlier handler skipped the rest of the stage",
        ]
    );
    // Whatever its row says, the run was recovered by it.
    assert_eq!(report.recovery().unwrap().handler(), "skips");
}

/// The operation's own error, with its type, decides.
#[tokio::test]
async fn l11_a_handler_recovers_from_the_errors_that_it_knows() {
    let hooks = HookRegistry::new();
    let small = at(StageKind::OnError, "small", |flow| {
        let by_context = flow.operation_error::<DiskFull>().cloned();
        let by_error = flow.error().and_then(FlowError::downcast_ref::<DiskFull>).cloned();
        assert_eq!(by_context, by_error);
        if by_error.is_some_and(|full| full.missing < 10) {
            flow.recover(answer("nearly"));
        }
        Ok(())
    });
    hooks.register(small).unwrap();
    for (missing, outcome) in [(9, "answered: nearly"), (10, "10 bytes short")] {
        let fails = async |_| Err(DiskFull { missing });
        assert_eq!(told(&hooks.flow::<RunTool>().run(call("ls"), fails).await), outcome);
    }
    let other = hooks.flow::<RunTool>().run(call("ls"), async |_| Err("no such tool")).await;
    assert_eq!(told(&other), "no such tool");
}

/// Writes down how calls and runs end.
#[derive(Clone, Debug, Default)]
struct Ends(Arc<Mutex<Vec<String>>>);

impl Observer for Ends {
    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.0.lock().unwrap().push(format!("{}: {}", fire.point(), end.as_str()));
    }
    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.0.lock().unwrap().push(format!("{}: {status}", call.handler()));
    }
}

#[tokio::test]
async fn l20_an_observer_sees_a_recovery_and_how_the_run_ended() {
    let ends = Ends::default();
    let hooks = HookRegistry::builder().observer(ends.clone()).build();
    let first = on::<OnError<RunTool>>().name("first").plugin("cache");
    let first = first.handler(|flow: &mut Context| assert!(flow.recover(answer("old"))));
    hooks.register([first, recovers("second", false)]).unwrap();
    hooks.flow::<RunTool>().run(call("ls"), fails).await.unwrap();
    assert_eq!(
        *ends.0.lock().unwrap(),
        [
            "tools:run/beforeValidation: ran",
            "tools:run/afterValidation: ran",
            "tools:run/beforeExecute: ran",
            "first: recovered",
            "second: recovery refused: an earlier handler recovered",
            "tools:run/onError: ran",
            "tools:run/finally: ran",
            "tools:run: recovered",
        ]
    );
}

/// In the order in which it happened.
#[tokio::test]
async fn l21_a_report_prints_who_recovered_and_from_which_error() {
    let hooks = HookRegistry::new();
    let closes = at(StageKind::Finally, "closes", |_| Ok(()));
    let cache = on::<OnError<RunTool>>().name("fall back").plugin("cache");
    let cache = cache.handler(|flow: &mut Context| assert!(flow.recover(answer("old"))));
    hooks.register([cache, closes]).unwrap();
    let nasty = async |_| Err("no\u{1b}[2J such\ntool");
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), nasty).await;
    assert_eq!(told(&outcome), "answered: old");
    assert_eq!(report.recovery().unwrap().error(), "no\u{1b}[2J such\ntool");
    let shown = report.to_string();
    let heads: Vec<_> = shown.lines().filter(|line| !line.starts_with("    ")).collect();
    assert_eq!(heads[0], "tools:run (flow)");
    assert!(heads[1].starts_with("  operation "), "{shown}");
    assert_eq!(
        heads[2..],
        [
            "  onError",
            r"  recovered by `fall back` (plugin `cache`) from: no\u{1b}[2J such\ntool",
            "  finally",
        ]
    );
}
