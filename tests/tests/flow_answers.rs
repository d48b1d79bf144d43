//! Who may answer in place of the operation, and whose answer counts (L11, L13).

mod flow_support;
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_support::*;
use hooks_runtime::flow::{FlowReport, StageKind};
use hooks_runtime::observe::{ObservedCall, Observer};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{
    AfterExecute, BeforeExecute, FlowContext, HookRegistry, OnError, hook_points, on,
};
use support::{Spiky, keep_quiet};

fn answer(text: &str) -> Answer {
    Answer(text.into())
}

async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
    Ok(Answer(text))
}

/// What the report says of each handler.
fn rows(report: &FlowReport) -> Vec<String> {
    let rows = report.stages().iter().flat_map(|stage| stage.handlers());
    rows.map(|row| format!("{}: {}", row.handler(), row.status())).collect()
}

/// The first answer ends the right of its stage to answer.
#[tokio::test]
async fn l11_the_first_answer_of_a_stage_stands_and_a_later_one_is_refused() {
    for stage in [
        StageKind::BeforeValidation,
        StageKind::AfterValidation,
        StageKind::BeforeExecute,
        StageKind::AfterExecute,
    ] {
        let hooks = HookRegistry::new();
        hooks
            .register([
                at(stage, "first", |flow| {
                    assert!(flow.respond(answer("first")));
                    Ok(())
                }),
                at(stage, "second", |flow| {
                    assert!(!flow.respond(answer("second")));
                    assert_eq!(flow.output(), Some(&answer("first")));
                    Ok(())
                }),
            ])
            .unwrap();
        let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
        assert_eq!(outcome.unwrap(), answer("first"), "{stage}");
        assert_eq!(
            rows(&report),
            ["first: answered", "second: answer refused: an earlier handler answered"],
            "{stage}"
        );
    }
}

/// A handler's own first answer stands as well.
#[tokio::test]
async fn l11_a_second_answer_of_the_same_handler_is_refused() {
    let hooks = HookRegistry::new();
    hooks
        .register(at(StageKind::BeforeExecute, "twice", |flow| {
            assert!(flow.respond(answer("first")));
            assert!(!flow.respond(answer("second")));
            assert_eq!(flow.output(), Some(&answer("first")));
            // Its own answer is its own to change.
            flow.output_mut().unwrap().0.push('!');
            Ok(())
        }))
        .unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
    assert_eq!(outcome.unwrap(), answer("first!"));
    assert_eq!(rows(&report), ["twice: answered, second answer refused"]);
}

/// The right to answer is a stage's: the next has its own.
#[tokio::test]
async fn l11_a_later_stage_may_answer_anew() {
    let hooks = HookRegistry::new();
    let answers = |text: &'static str| {
        move |flow: &mut Context| {
            assert!(flow.respond(answer(text)));
            assert_eq!(flow.output(), Some(&answer(text)));
            Ok(())
        }
    };
    hooks
        .register([
            at(StageKind::BeforeValidation, "early", answers("early")),
            at(StageKind::BeforeExecute, "later", answers("later")),
            at(StageKind::AfterExecute, "last", answers("last")),
        ])
        .unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
    assert_eq!(outcome.unwrap(), answer("last"));
    assert_eq!(rows(&report), ["early: answered", "later: answered", "last: answered"]);
}

/// A refusal is no failure, and what else the handler asked for is done.
#[tokio::test]
async fn l11_a_handler_whose_answer_is_refused_can_still_skip() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            at(StageKind::BeforeExecute, "first", |flow| {
                flow.respond(answer("first"));
                Ok(())
            }),
            at(StageKind::BeforeExecute, "second", |flow| {
                flow.respond(answer("second"));
                flow.skip();
                Ok(())
            }),
            at(StageKind::BeforeExecute, "third", |_| Ok(())),
        ])
        .unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), echo).await;
    assert_eq!(outcome.unwrap(), answer("first"));
    assert_eq!(
        rows(&report),
        [
            "first: answered",
            "second: answer refused: an earlier handler answered",
            "third: not called: an earlier handler skipped the rest of the stage",
        ]
    );
}

/// Where the outcome stands, the refusal is in the report too.
#[tokio::test]
async fn l11_an_answer_in_on_error_and_finally_is_refused_visibly() {
    let hooks = HookRegistry::new();
    for stage in [StageKind::OnError, StageKind::Finally] {
        let late = at(stage, "late", |flow| {
            assert!(!flow.respond(answer("too late")));
            assert_eq!(flow.output(), None);
            Ok(())
        });
        hooks.register(late).unwrap();
    }
    let fails = async |_| Err(DiskFull { missing: 7 });
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "7 bytes short");
    assert_eq!(rows(&report), ["late: answer refused: the outcome stands already"; 2]);
}

/// How a handler fails after it has answered.
#[derive(Clone, Copy, Debug)]
enum Fails {
    Error,
    Panic,
    Timeout,
    Abort,
}

/// A failed handler contributes nothing, its answer neither: the stages that
/// look at the error see the output as it was before.
#[tokio::test(start_paused = true)]
async fn l13_the_answer_of_a_handler_that_fails_is_withdrawn() {
    keep_quiet(PLANNED);
    for fails in [Fails::Error, Fails::Panic, Fails::Timeout, Fails::Abort] {
        let hooks = HookRegistry::new();
        let trace = Trace::default();
        let act = async |fails: &Fails, flow: &mut Context| {
            assert!(flow.respond(answer("half done")));
            assert_eq!(flow.output(), Some(&answer("half done")));
            match fails {
                Fails::Error => return Err(DiskFull { missing: 3 }),
                Fails::Panic => panic!("half done"),
                Fails::Timeout => std::future::pending().await,
                Fails::Abort => flow.abort("closed for today"),
            }
            Ok(())
        };
        let limit = Duration::from_secs(1);
        let before =
            on::<BeforeExecute<RunTool>>().name("before").timeout(limit).handler_with(fails, act);
        let before = hooks.register(before).unwrap();
        for stage in [StageKind::OnError, StageKind::Finally] {
            let noting = trace.clone();
            let sees = at(stage, "sees", move |flow| {
                noting.note(format!("{:?}", flow.output()));
                Ok(())
            });
            hooks.register(sees).unwrap();
        }
        hooks.run_flow::<RunTool, _>(call("ls"), echo).await.unwrap_err();
        assert_eq!(trace.take(), ["None"; 2], "{fails:?}");

        // After the operation its output is what stands.
        for handle in before {
            handle.unregister();
        }
        let after =
            on::<AfterExecute<RunTool>>().name("after").timeout(limit).handler_with(fails, act);
        hooks.register(after).unwrap();
        hooks.run_flow::<RunTool, _>(call("ls"), echo).await.unwrap_err();
        assert_eq!(trace.take(), [r#"Some(Answer("ls"))"#; 2], "{fails:?}");
    }
}

/// What is meant to panic here.
const PLANNED: &[&str] = &["half done", "spiky to the end"];

hook_points! {
    /// Makes something whose drop may panic.
    pub flow Make(u32) -> Spiky;
}

/// Refused, withdrawn or replaced: dropping an answer is the user's code.
#[tokio::test]
async fn l12_an_answer_that_does_not_count_is_dropped_with_care() {
    keep_quiet(PLANNED);
    let make = async |_| Ok::<_, DiskFull>(Spiky { sharp: true });

    let refused = HookRegistry::new();
    let twice = |flow: &mut FlowContext<Make>| {
        assert!(flow.respond(Spiky { sharp: false }));
        assert!(!flow.respond(Spiky { sharp: true }));
    };
    refused.register(on::<BeforeExecute<Make>>().name("twice").handler(twice)).unwrap();
    let (outcome, report) = refused.flow::<Make>().run_reported(1, make).await;
    assert_eq!(outcome.unwrap(), Spiky { sharp: false });
    assert_eq!(rows(&report), ["twice: answered, second answer refused"]);

    let withdrawn = HookRegistry::new();
    let fails = |flow: &mut FlowContext<Make>| {
        flow.respond(Spiky { sharp: true });
        Err::<(), _>("not after all")
    };
    let sees = |flow: &mut FlowContext<Make>| assert_eq!(flow.output(), None);
    withdrawn
        .register([
            on::<BeforeExecute<Make>>().name("fails").handler(fails),
            on::<OnError<Make>>().name("sees").handler(sees),
        ])
        .unwrap();
    let (outcome, report) = withdrawn.flow::<Make>().run_reported(1, make).await;
    let error = outcome.unwrap_err().to_string();
    assert_eq!(error, "handler `fails` (built-in) at `make/beforeExecute`: not after all");
    assert_eq!(rows(&report), ["fails: error, fail-closed: not after all", "sees: ran"]);

    let replaced = HookRegistry::new();
    let blunt = |flow: &mut FlowContext<Make>| assert!(flow.respond(Spiky { sharp: false }));
    replaced.register(on::<AfterExecute<Make>>().name("blunt").handler(blunt)).unwrap();
    let (outcome, report) = replaced.flow::<Make>().run_reported(1, make).await;
    assert_eq!(outcome.unwrap(), Spiky { sharp: false });
    assert_eq!(rows(&report), ["blunt: answered"]);
}

/// Writes down how the calls of handlers end.
#[derive(Clone, Debug, Default)]
struct Ends(Arc<Mutex<Vec<String>>>);

impl Observer for Ends {
    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.0.lock().unwrap().push(format!("{}: {status}", call.handler()));
    }
}

#[tokio::test]
async fn l20_an_observer_sees_that_an_answer_was_refused() {
    let ends = Ends::default();
    let hooks = HookRegistry::builder().observer(ends.clone()).build();
    for name in ["first", "second"] {
        let handler = at(StageKind::BeforeExecute, name, move |flow| {
            flow.respond(answer(name));
            Ok(())
        });
        hooks.register(handler).unwrap();
    }
    let outcome = hooks.run_flow::<RunTool, _>(call("ls"), echo).await;
    assert_eq!(outcome.unwrap(), answer("first"));
    assert_eq!(
        *ends.0.lock().unwrap(),
        ["first: answered", "second: answer refused: an earlier handler answered"]
    );
}
