//! Which stages of a flow run, and in which order, for every way in which a
//! run can go. `+` in a trace is the second handler of the stage before it.

mod flow_support;

use std::time::Duration;

use flow_support::*;
use hooks_runtime::error::FailureKind;
use hooks_runtime::flow::StageKind::{self, *};
use hooks_runtime::{FlowError, HookRegistry, Registration, flow, on};

/// What the operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Answers,
    Fails,
    Panics,
}
use Operation::{Answers, Fails, Panics};

/// What the first handler of one stage does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    Nothing,
    Abort,
    Respond,
    Skip,
    Fail,
    Panic,
}
use Act::{Abort, Fail, Nothing, Panic, Respond, Skip};

impl Act {
    fn perform(self, flow: &mut Context) -> Result<(), DiskFull> {
        match self {
            Nothing => {}
            Abort => flow.abort("closed for today"),
            Skip => flow.skip(),
            Fail => return Err(DiskFull { missing: 3 }),
            Panic => panic!("tripped"),
            Respond => {
                let taken = flow.respond(Answer("from the cache".into()));
                // Where the outcome stands already the answer is not taken.
                assert_eq!(taken, !matches!(flow.stage(), OnError | Finally));
            }
        }
        Ok(())
    }
}

/// Runs the flow, with `act` in the first handler of `stage`.
async fn sequence(
    input: &str,
    operation: Operation,
    stage: StageKind,
    act: Act,
) -> (String, Outcome) {
    let trace = Trace::default();
    let hooks =
        traced(&trace, move |flow| if flow.stage() == stage { act.perform(flow) } else { Ok(()) });
    let (validation, operating) = (trace.clone(), trace.clone());
    let outcome = hooks
        .flow::<RunTool>()
        .validate(move |Call(text)| {
            validation.note("validation");
            if text.is_empty() { Err("it is empty") } else { Ok(()) }
        })
        .run(call(input), async move |Call(text)| {
            operating.note("operation");
            match operation {
                Answers => Ok(Answer(text)),
                Fails => Err(DiskFull { missing: 7 }),
                Panics => panic!("out of paper"),
            }
        })
        .await;
    (trace.take().join(" "), outcome)
}

/// A row: what the operation does, in which stage which act, what ran, and
/// what came out.
type Row = (Operation, StageKind, Act, &'static str, &'static str);

/// Runs every row. Whatever its trace says, finally must be in it once, and
/// on_error exactly if the flow failed: the rows are checked too.
async fn check(rows: &[Row]) {
    for &(operation, stage, act, trace, outcome) in rows {
        let case = format!("{act:?} in {stage}, the operation {operation:?}");
        let (ran, came_out) = sequence("ls", operation, stage, act).await;
        assert_eq!(ran, trace, "{case}");
        assert_eq!(told(&came_out), outcome, "{case}");
        let times = |word| ran.split(' ').filter(|ran| *ran == word).count();
        assert_eq!(times("finally"), 1, "{case}");
        assert_eq!(times("onError"), usize::from(came_out.is_err()), "{case}");
        assert!(times("operation") <= 1, "{case}");
    }
}

const SUCCESS: &str = "beforeValidation + validation afterValidation + beforeExecute + operation \
                       afterExecute + finally +";
const FAILURE: &str = "beforeValidation + validation afterValidation + beforeExecute + operation \
                       onError + finally +";

#[tokio::test]
async fn l11_success_failure_and_panic_of_the_operation() {
    check(&[
        (Answers, Finally, Nothing, SUCCESS, "answered: ls"),
        (Fails, Finally, Nothing, FAILURE, "7 bytes short"),
        (Panics, Finally, Nothing, FAILURE, "the operation of `tools:run` panicked: out of paper"),
    ])
    .await;
}

#[tokio::test]
async fn l11_input_that_is_not_valid() {
    let (trace, outcome) = sequence("", Answers, Finally, Nothing).await;
    assert_eq!(trace, "beforeValidation + validation onError + finally +");
    assert_eq!(told(&outcome), "the input of `tools:run` is not valid: it is empty");
    assert!(matches!(outcome, Err(FlowError::Invalid { flow: "tools:run", .. })));
}

/// An answer before the validation takes the input's place, so there is
/// nothing left to validate.
#[tokio::test]
async fn l11_an_answer_before_the_validation_leaves_it_out() {
    let (trace, outcome) = sequence("", Answers, BeforeValidation, Respond).await;
    assert_eq!(
        trace,
        "beforeValidation + afterValidation + beforeExecute + afterExecute + finally +"
    );
    assert_eq!(told(&outcome), "answered: from the cache");
}

#[rustfmt::skip]
#[tokio::test]
async fn l11_abort_in_each_stage() {
    check(&[
        (Answers, BeforeValidation, Abort,
            "beforeValidation onError + finally +",
            "`tools:run` was aborted in beforeValidation by `actor` (built-in): closed for today"),
        (Answers, AfterValidation, Abort,
            "beforeValidation + validation afterValidation onError + finally +",
            "`tools:run` was aborted in afterValidation by `actor` (built-in): closed for today"),
        (Answers, BeforeExecute, Abort,
            "beforeValidation + validation afterValidation + beforeExecute onError + finally +",
            "`tools:run` was aborted in beforeExecute by `actor` (built-in): closed for today"),
        // The operation has run, and still there is no output.
        (Answers, AfterExecute, Abort,
            "beforeValidation + validation afterValidation + beforeExecute + operation \
             afterExecute onError + finally +",
            "`tools:run` was aborted in afterExecute by `actor` (built-in): closed for today"),
        // From here on the outcome stands.
        (Fails, OnError, Abort, FAILURE, "7 bytes short"),
        (Answers, Finally, Abort, SUCCESS, "answered: ls"),
        (Fails, Finally, Abort, FAILURE, "7 bytes short"),
    ])
    .await;
}

#[rustfmt::skip]
#[tokio::test]
async fn l11_respond_in_each_stage() {
    const NO_OPERATION: &str =
        "beforeValidation + validation afterValidation + beforeExecute + afterExecute + finally +";
    check(&[
        (Answers, BeforeValidation, Respond,
            "beforeValidation + afterValidation + beforeExecute + afterExecute + finally +",
            "answered: from the cache"),
        (Answers, AfterValidation, Respond, NO_OPERATION, "answered: from the cache"),
        (Answers, BeforeExecute, Respond, NO_OPERATION, "answered: from the cache"),
        // An operation that would fail or panic does not get to it.
        (Fails, BeforeExecute, Respond, NO_OPERATION, "answered: from the cache"),
        (Panics, BeforeExecute, Respond, NO_OPERATION, "answered: from the cache"),
        (Answers, AfterExecute, Respond, SUCCESS, "answered: from the cache"),
        (Fails, OnError, Respond, FAILURE, "7 bytes short"),
        (Answers, Finally, Respond, SUCCESS, "answered: ls"),
        (Fails, Finally, Respond, FAILURE, "7 bytes short"),
    ])
    .await;
}

#[rustfmt::skip]
#[tokio::test]
async fn l11_skip_in_each_stage_ends_the_stage_and_not_the_flow() {
    check(&[
        (Answers, BeforeValidation, Skip,
            "beforeValidation validation afterValidation + beforeExecute + operation \
             afterExecute + finally +",
            "answered: ls"),
        (Answers, AfterValidation, Skip,
            "beforeValidation + validation afterValidation beforeExecute + operation \
             afterExecute + finally +",
            "answered: ls"),
        (Answers, BeforeExecute, Skip,
            "beforeValidation + validation afterValidation + beforeExecute operation \
             afterExecute + finally +",
            "answered: ls"),
        (Answers, AfterExecute, Skip,
            "beforeValidation + validation afterValidation + beforeExecute + operation \
             afterExecute finally +",
            "answered: ls"),
        // To skip in on_error is not to forgive.
        (Fails, OnError, Skip,
            "beforeValidation + validation afterValidation + beforeExecute + operation \
             onError finally +",
            "7 bytes short"),
        (Answers, Finally, Skip,
            "beforeValidation + validation afterValidation + beforeExecute + operation \
             afterExecute + finally",
            "answered: ls"),
    ])
    .await;
}

/// The handler's error, and its panic, in each stage: the same sequence, and
/// an error that names handler and stage.
#[rustfmt::skip]
#[tokio::test]
async fn l13_error_and_panic_in_each_stage() {
    for (act, says) in [(Fail, "3 bytes short"), (Panic, "panicked: tripped")] {
        for (stage, trace) in [
            (BeforeValidation, "beforeValidation onError + finally +"),
            (AfterValidation,
                "beforeValidation + validation afterValidation onError + finally +"),
            (BeforeExecute,
                "beforeValidation + validation afterValidation + beforeExecute onError + finally +"),
            (AfterExecute,
                "beforeValidation + validation afterValidation + beforeExecute + operation \
                 afterExecute onError + finally +"),
        ] {
            let (ran, outcome) = sequence("ls", Answers, stage, act).await;
            assert_eq!(ran, trace, "{act:?} in {stage}");
            assert_eq!(
                told(&outcome),
                format!("handler `actor` (built-in) at `tools:run/{stage}`: {says}"),
            );
            let Err(FlowError::Fire(error)) = outcome else { panic!("{outcome:?}") };
            let failure = error.failure().unwrap();
            assert_eq!(failure.handler(), "actor");
            assert_eq!(matches!(failure.kind(), FailureKind::Panicked(_)), act == Panic);
        }
    }
}

/// On_error and finally cannot change how the flow ended, and one failed
/// handler there does not keep the next from running.
#[rustfmt::skip]
#[tokio::test]
async fn l13_error_and_panic_in_on_error_and_finally_hide_nothing() {
    for act in [Fail, Panic] {
        check(&[
            (Fails, OnError, act, FAILURE, "7 bytes short"),
            (Panics, OnError, act, FAILURE,
                "the operation of `tools:run` panicked: out of paper"),
            (Answers, Finally, act, SUCCESS, "answered: ls"),
            (Fails, Finally, act, FAILURE, "7 bytes short"),
        ])
        .await;
    }
}

/// An abort is not undone by a skip after it, and takes the place of one
/// before it.
#[tokio::test]
async fn l11_abort_and_skip_together_abort() {
    for abort_first in [true, false] {
        let trace = Trace::default();
        let hooks = traced(&trace, move |flow| {
            if flow.stage() == BeforeExecute {
                if !abort_first {
                    flow.skip();
                }
                flow.abort("closed for today");
                if abort_first {
                    flow.skip();
                }
            }
            Ok(())
        });
        let echo = async |Call(text)| Ok::<_, DiskFull>(Answer(text));
        let outcome = hooks.run_flow::<RunTool, _>(call("ls"), echo).await;
        assert!(matches!(outcome, Err(FlowError::Aborted { stage: BeforeExecute, .. })));
        assert_eq!(
            trace.take().join(" "),
            "beforeValidation + afterValidation + beforeExecute onError + finally +"
        );
    }
}

/// A handler that asks for something and then fails is as if it had not been
/// there: what it asked for goes with it. Otherwise the next handler would be
/// taken for the one that asked.
#[tokio::test]
async fn l13_what_a_failed_handler_asked_for_is_not_laid_to_the_next() {
    for (act, asks) in [(Fail, Skip), (Panic, Skip), (Fail, Abort), (Panic, Abort)] {
        let case = format!("{asks:?}, then {act:?}");
        let trace = Trace::default();
        let hooks = HookRegistry::new();
        let (one, two, three) = (trace.clone(), trace.clone(), trace.clone());
        hooks
            .register([
                at(OnError, "fails", move |flow| {
                    one.note("fails");
                    asks.perform(flow)?;
                    act.perform(flow)
                }),
                at(OnError, "innocent", move |_| {
                    two.note("innocent");
                    Ok(())
                }),
                at(OnError, "last", move |_| {
                    three.note("last");
                    Ok(())
                }),
            ])
            .unwrap();
        let (outcome, report) = hooks
            .flow::<RunTool>()
            .run_reported(call("ls"), async |_| Err(DiskFull { missing: 7 }))
            .await;
        assert_eq!(told(&outcome), "7 bytes short", "{case}");
        assert_eq!(trace.take(), ["fails", "innocent", "last"], "{case}");
        let innocent = report.stages()[0].handler("innocent").unwrap();
        assert_eq!(innocent.status().to_string(), "ran", "{case}");
    }
}

/// A handler that hangs fails the flow where stages are fail-closed, and is
/// passed over in on_error and finally. Either way the flow ends.
#[tokio::test(start_paused = true)]
async fn l14_a_hanging_handler_in_each_stage() {
    let ends_the_flow = |stage: StageKind| {
        format!("handler `hangs` (built-in) at `tools:run/{stage}`: did not finish within 30s")
    };
    let table = [
        (BeforeValidation, Answers, ends_the_flow(BeforeValidation)),
        (AfterValidation, Answers, ends_the_flow(AfterValidation)),
        (BeforeExecute, Answers, ends_the_flow(BeforeExecute)),
        (AfterExecute, Answers, ends_the_flow(AfterExecute)),
        (OnError, Fails, "7 bytes short".into()),
        (Finally, Fails, "7 bytes short".into()),
        (Finally, Answers, "answered: ls".into()),
    ];
    for (stage, operation, expected) in table {
        let trace = Trace::default();
        let hooks = traced(&trace, |_| Ok(()));
        hooks.register(hanging(stage)).unwrap();
        let outcome = hooks
            .run_flow::<RunTool, _>(call("ls"), async move |Call(text)| match operation {
                Answers => Ok(Answer(text)),
                _ => Err(DiskFull { missing: 7 }),
            })
            .await;
        assert_eq!(told(&outcome), expected, "{stage}");
        let ran = trace.take();
        assert_eq!(ran.iter().filter(|ran| *ran == "finally").count(), 1, "{stage}");
        let failed = usize::from(outcome.is_err());
        assert_eq!(ran.iter().filter(|ran| *ran == "onError").count(), failed, "{stage}");
    }
}

/// First in its stage, with a limit of its own, and never done.
fn hanging(stage: StageKind) -> Registration {
    fn typed<S: RunToolStage>() -> Registration {
        on::<S>()
            .name("hangs")
            .priority(-1)
            .timeout(Duration::from_secs(30))
            .handler(async |_: &mut Context| std::future::pending::<()>().await)
    }
    match stage {
        BeforeValidation => typed::<flow::BeforeValidation<RunTool>>(),
        AfterValidation => typed::<flow::AfterValidation<RunTool>>(),
        BeforeExecute => typed::<flow::BeforeExecute<RunTool>>(),
        AfterExecute => typed::<flow::AfterExecute<RunTool>>(),
        OnError => typed::<flow::OnError<RunTool>>(),
        Finally => typed::<flow::Finally<RunTool>>(),
    }
}

/// A validation that panics is a validation that does not pass.
#[tokio::test]
async fn l12_a_panic_in_the_validation_stays_in_the_flow() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let outcome = hooks
        .flow::<RunTool>()
        .validate(|_| -> Result<(), &str> { panic!("no schema") })
        .run(call("ls"), async |Call(text)| Ok::<_, DiskFull>(Answer(text)))
        .await;
    assert_eq!(
        told(&outcome),
        "the input of `tools:run` is not valid: the validation panicked: no schema"
    );
    assert_eq!(trace.take().join(" "), "beforeValidation + onError + finally +");
}

/// The operation may panic before it has a future, or long after.
#[tokio::test]
async fn l12_a_panic_of_the_operation_stays_in_the_flow_wherever_it_starts() {
    let trace = Trace::default();
    let hooks = traced(&trace, |_| Ok(()));
    let expected = "beforeValidation + afterValidation + beforeExecute + onError + finally +";

    let torn = |_: Call| -> std::future::Ready<Result<Answer, DiskFull>> { panic!("torn") };
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), torn).await;
    assert_eq!(told(&outcome), "the operation of `tools:run` panicked: torn");
    assert_eq!(trace.take().join(" "), expected);

    let outcome = hooks
        .run_flow::<RunTool, _>(call("ls"), async |_| -> Result<_, DiskFull> {
            tokio::task::yield_now().await;
            panic!("torn later")
        })
        .await;
    assert_eq!(told(&outcome), "the operation of `tools:run` panicked: torn later");
    assert_eq!(trace.take().join(" "), expected);
}
