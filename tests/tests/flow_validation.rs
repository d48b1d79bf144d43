//! The flow's own validation (L11, L12, L20): in line or awaited, and free to
//! borrow from where the flow is run.

mod flow_support;
mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flow_support::*;
use hooks_runtime::flow::{FlowStep, StageKind, StepStatus};
use hooks_runtime::observe::{ObservedStep, Observer};
use hooks_runtime::{BeforeValidation, HookRegistry, on};
use support::{Count, Spiky, keep_quiet, poll_once};
use tokio::sync::Notify;

/// What is meant to panic here.
const PLANNED: &[&str] = &["no schema", "spiky to the end"];

async fn echo(Call(text): Call) -> Result<Answer, DiskFull> {
    Ok(Answer(text))
}

/// The future's output, of a run that another thread could take over.
fn sent<F: Future + Send>(run: F) -> F {
    run
}

/// Names that may be called, behind a wait.
struct Directory {
    names: Vec<String>,
    goes_on: Notify,
}

impl Directory {
    async fn find(&self, name: &str) -> Option<&String> {
        self.goes_on.notified().await;
        self.names.iter().find(|known| *known == name)
    }
}

/// It borrows a local of the host and the request, across an await.
#[tokio::test]
async fn l11_a_validation_can_wait_and_borrow() {
    let (hooks, trace) = (HookRegistry::new(), Trace::default());
    let noting = trace.clone();
    let after = at(StageKind::AfterValidation, "after", move |flow| {
        noting.note(&flow.input().unwrap().0);
        Ok(())
    });
    hooks.register(after).unwrap();
    let directory = Directory { names: vec!["ls".into()], goes_on: Notify::new() };
    let mut asked = Vec::new();
    for (name, outcome, after) in [
        ("ls", "answered: ls", &["ls"][..]),
        ("rm", "the input of `tools:run` is not valid: there is no tool `rm`", &[]),
    ] {
        let known = async |Call(name): &Call| {
            asked.push(name.clone());
            match directory.find(name).await {
                Some(found) if found == name => Ok(()),
                Some(other) => panic!("{other} is not {name}"),
                None => Err(format!("there is no tool `{name}`")),
            }
        };
        let run = hooks.flow::<RunTool>().validate_async(known).run(call(name), echo);
        let mut run = Box::pin(sent(run));
        assert!(poll_once(run.as_mut()).is_pending());
        assert_eq!(trace.take(), [""; 0], "the next stage waits for it");
        directory.goes_on.notify_one();
        assert_eq!(told(&run.await), outcome);
        assert_eq!(trace.take(), after);
    }
    assert_eq!(asked, ["ls", "rm"]);
}

/// In a task of its own, with what it owns; a function will do.
#[tokio::test]
async fn l11_a_run_with_an_async_validation_can_be_spawned() {
    async fn is_known(Call(name): &Call) -> Result<(), DiskFull> {
        if name == "ls" { Ok(()) } else { Err(DiskFull { missing: 1 }) }
    }
    let hooks = HookRegistry::new();
    let run = tokio::spawn(async move {
        let names = ["ls".to_owned()];
        let borrowed = async |Call(name): &Call| match names.contains(name) {
            true => is_known(&call(name)).await,
            false => Err(DiskFull { missing: 2 }),
        };
        let borrowed = hooks.flow::<RunTool>().validate_async(borrowed).run(call("rm"), echo).await;
        let given = hooks.flow::<RunTool>().validate_async(is_known).run(call("ls"), echo).await;
        (told(&borrowed), told(&given))
    });
    let (borrowed, given) = run.await.unwrap();
    assert_eq!(borrowed, "the input of `tools:run` is not valid: 2 bytes short");
    assert_eq!(given, "answered: ls");
}

/// In line it borrows too, and is put into a run that has none as ever.
#[tokio::test]
async fn l11_a_validation_in_line_can_borrow() {
    let hooks = HookRegistry::new();
    let (names, mut asked) = (["ls".to_owned()], 0);
    for is_checked in [true, false] {
        let mut run = hooks.flow::<RunTool>();
        if is_checked {
            run = run.validate(|Call(name)| {
                asked += 1;
                if names.contains(name) { Ok(()) } else { Err("unknown") }
            });
        }
        let outcome = sent(run.run(call("rm"), echo)).await;
        assert_eq!(outcome.is_err(), is_checked);
    }
    assert_eq!(asked, 1);
}

/// A run has one validation: the last that was given.
#[tokio::test]
async fn l11_the_last_validation_counts() {
    let hooks = HookRegistry::new();
    let awaited = async |_: &Call| Err::<(), _>("awaited");
    let run = hooks.flow::<RunTool>().validate(|_| Err("in line")).validate_async(awaited);
    let outcome = told(&run.target_named("x").run(call("ls"), echo).await);
    assert_eq!(outcome, "the input of `tools:run` is not valid: awaited");
    let run = hooks.flow::<RunTool>().validate_async(awaited).validate(|_| Err("in line"));
    let outcome = told(&run.run(call("ls"), echo).await);
    assert_eq!(outcome, "the input of `tools:run` is not valid: in line");
}

#[tokio::test]
async fn l11_an_answer_leaves_an_async_validation_out() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    let answers = |flow: &mut Context| assert!(flow.respond(Answer("known".into())));
    hooks.register(on::<BeforeValidation<RunTool>>().name("cache").handler(answers)).unwrap();
    // What it captured is dropped with care.
    let sharp = Spiky { sharp: true };
    let refuses = async move |_: &Call| Err(sharp.to_string());
    let run = hooks.flow::<RunTool>().validate_async(refuses);
    let (outcome, report) = run.run_reported(call("ls"), echo).await;
    assert_eq!(told(&outcome), "answered: known");
    let validation = report.validation().unwrap().status().to_string();
    assert_eq!(validation, "not run: a handler answered");
}

#[tokio::test]
async fn l12_a_panic_in_an_async_validation_stays_in_the_flow() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    for is_late in [false, true] {
        let panics = async |_: &Call| -> Result<(), DiskFull> {
            if is_late {
                tokio::task::yield_now().await;
            }
            panic!("no schema")
        };
        let run = hooks.flow::<RunTool>().validate_async(panics);
        let (outcome, report) = run.run_reported(call("ls"), echo).await;
        let refused = "the input of `tools:run` is not valid: the validation panicked: no schema";
        assert_eq!(told(&outcome), refused);
        let status = report.validation().unwrap().status().to_string();
        assert_eq!(status, "panic: no schema");
    }
}

/// Writes down what becomes of the validation.
#[derive(Clone, Debug, Default)]
struct Steps(Arc<Mutex<Vec<String>>>);

impl Steps {
    fn note(&self, step: &ObservedStep<'_>, what: &str) {
        if step.step() == FlowStep::Validation {
            self.0.lock().unwrap().push(what.to_owned());
        }
    }
}

impl Observer for Steps {
    fn step_started(&self, step: &ObservedStep<'_>) {
        self.note(step, "starts");
    }
    fn step_poll_started(&self, step: &ObservedStep<'_>) {
        self.note(step, "poll");
    }
    fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, _: Duration) {
        self.note(step, &status.to_string());
    }
}

/// It has one end, also where its run is dropped: then what it holds is dropped
/// before.
#[tokio::test]
async fn l20_an_async_validation_has_one_end_at_whichever_poll_its_run_is_dropped() {
    for polls in 0..4 {
        let (steps, held) = (Steps::default(), Count::default());
        let hooks = HookRegistry::builder().observer(steps.clone()).build();
        let waits = async |_: &Call| {
            let _held = held.on_drop();
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            Ok::<_, DiskFull>(())
        };
        let mut run = Box::pin(hooks.flow::<RunTool>().validate_async(waits).run(call("ls"), echo));
        for _ in 0..polls {
            let _ = poll_once(run.as_mut());
        }
        drop(run);
        let cancelled = "cancelled: the run was dropped";
        let expected: &[&str] = match polls {
            0 => &[],
            // The last is the drop.
            1 => &["starts", "poll", "poll", cancelled],
            2 => &["starts", "poll", "poll", "poll", cancelled],
            _ => &["starts", "poll", "poll", "poll", "ran"],
        };
        assert_eq!(*steps.0.lock().unwrap(), expected, "after {polls} polls");
        assert_eq!(held.get(), usize::from(polls > 0), "after {polls} polls");
    }
}
