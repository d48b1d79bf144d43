//! A flow's own validation and its operation, as reports and observers show
//! them (L20, L21).

mod support;

use std::collections::HashSet;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_runtime::flow::{FlowReport, NotRun, StepStatus};
use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, ObservedStep, Observer};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    HookRegistry, OnError, hook_points, on,
};
use support::{Spiky, keep_quiet, poll_once};

hook_points! {
    /// A pot is made.
    pub flow Brew(u32) -> u32;
}

/// What is meant to panic here.
const PLANNED: &[&str] = &["no leaves", "boiled over", "spiky to the end"];

/// What the host does in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Host {
    Runs,
    Fails,
    Panics,
}

impl Host {
    fn act(self, error: &'static str, panic: &'static str) -> Result<(), &'static str> {
        match self {
            Self::Runs => Ok(()),
            Self::Fails => Err(error),
            Self::Panics => std::panic::panic_any(panic),
        }
    }
}

async fn brew(hooks: &HookRegistry, validation: Option<Host>, operation: Host) -> FlowReport {
    keep_quiet(PLANNED);
    let mut flow = hooks.flow::<Brew>();
    if let Some(validation) = validation {
        flow = flow.validate(move |_: &u32| validation.act("no water", "no leaves"));
    }
    let operation = async move |litres| operation.act("burnt", "boiled over").map(|()| litres);
    flow.run_reported(1, operation).await.1
}

fn answering() -> HookRegistry {
    let hooks = HookRegistry::new();
    let cache = on::<BeforeValidation<Brew>>().name("cache");
    let cache = cache.handler(|flow: &mut FlowContext<Brew>| assert!(flow.respond(7)));
    hooks.register(cache).unwrap();
    hooks
}

#[tokio::test]
async fn l21_a_report_says_what_became_of_the_validation_and_the_operation() {
    let (quiet, answering) = (HookRegistry::new(), answering());
    let table = [
        (&quiet, None, Host::Runs, None, "ran"),
        (&quiet, None, Host::Fails, None, "error: burnt"),
        (&quiet, None, Host::Panics, None, "panic: boiled over"),
        (&quiet, Some(Host::Runs), Host::Runs, Some("ran"), "ran"),
        (
            &quiet,
            Some(Host::Fails),
            Host::Runs,
            Some("error: no water"),
            "not run: the flow ended before it",
        ),
        (
            &quiet,
            Some(Host::Panics),
            Host::Runs,
            Some("panic: no leaves"),
            "not run: the flow ended before it",
        ),
        (
            &answering,
            Some(Host::Runs),
            Host::Runs,
            Some("not run: a handler answered"),
            "not run: a handler answered",
        ),
    ];
    for (hooks, validation, operation, judged, operated) in table {
        let report = brew(hooks, validation, operation).await;
        let what = format!("{validation:?} {operation:?}");
        let told = report.validation().map(|step| step.status().to_string());
        assert_eq!(told.as_deref(), judged, "{what}");
        assert_eq!(report.operation().status().to_string(), operated, "{what}");
        // Timed where it ran, and only there.
        for step in report.validation().into_iter().chain([report.operation()]) {
            let ran = !matches!(step.status(), StepStatus::NotRun(_));
            assert_eq!(step.elapsed().is_some(), ran, "{what}");
        }
    }
}

/// The time of the operation is its own, from its first poll to its end.
#[tokio::test]
async fn l21_the_time_of_an_operation_is_in_the_report() {
    let hooks = HookRegistry::new();
    let blocked = Duration::from_millis(20);
    let operation = async |litres| {
        std::thread::sleep(blocked);
        tokio::task::yield_now().await;
        std::thread::sleep(blocked);
        Ok::<u32, String>(litres)
    };
    let (_, report) = hooks.flow::<Brew>().run_reported(1, operation).await;
    assert!(report.operation().elapsed().unwrap() >= 2 * blocked, "{report}");
}

/// A run that is refused has reached nothing.
#[tokio::test]
async fn l21_a_run_that_is_nested_too_deep_reports_that_it_reached_nothing() {
    let hooks = HookRegistry::builder().max_depth(1).build();
    let within = hooks.clone();
    let operation = async move |litres| {
        let operation = async |litres| Ok::<u32, String>(litres);
        let run = within.flow::<Brew>().validate(|_| Ok::<_, String>(()));
        let (outcome, report) = run.run_reported(litres, operation).await;
        outcome.unwrap_err();
        assert_eq!(
            report.to_string(),
            "brew (flow)\n\
             \x20 no handlers\n\
             \x20 validation    -  not run: the flow ended before it\n\
             \x20 operation     -  not run: the flow ended before it"
        );
        Ok::<u32, String>(litres)
    };
    hooks.run_flow::<Brew, _>(1, operation).await.unwrap();
}

/// Records the notifications of a run, and that starts and ends pair.
#[derive(Clone, Debug, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<HashSet<u64>>>,
    run: Arc<Mutex<Option<u64>>>,
}

impl Log {
    fn line(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn start(&self, id: u64, line: String) {
        assert!(self.open.lock().unwrap().insert(id), "{id} starts once");
        self.line(line);
    }

    fn end(&self, id: u64, line: String) {
        assert!(self.open.lock().unwrap().remove(&id), "{id} ends once");
        self.line(line);
    }

    /// All of it; nothing is open.
    fn take(&self) -> Vec<String> {
        assert_eq!(*self.open.lock().unwrap(), HashSet::new(), "every start has an end");
        std::mem::take(&mut self.lines.lock().unwrap())
    }
}

impl Observer for Log {
    fn fire_started(&self, fire: &ObservedFire) {
        // A stage names its run; the run itself is part of none.
        let run = *self.run.lock().unwrap();
        if fire.point() == "brew" {
            assert_eq!(fire.run(), None);
            *self.run.lock().unwrap() = Some(fire.id());
        } else {
            assert_eq!(fire.run(), run);
        }
        self.start(fire.id(), format!("{} begins", fire.point()));
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.end(fire.id(), format!("{} ends: {}", fire.point(), end.as_str()));
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        self.start(call.id(), format!("{} begins", call.handler()));
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.end(call.id(), format!("{} ends: {status}", call.handler()));
    }

    fn step_started(&self, step: &ObservedStep<'_>) {
        assert_eq!(Some(step.run().id()), *self.run.lock().unwrap());
        self.start(step.id(), format!("{} begins", step.step()));
    }

    fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, _: Duration) {
        self.end(step.id(), format!("{} ends: {status}", step.step()));
    }

    fn step_not_run(&self, step: &ObservedStep<'_>, reason: NotRun) {
        assert_eq!(step.id(), 0);
        self.line(format!("{} is not run: {reason}", step.step()));
    }

    fn step_poll_started(&self, step: &ObservedStep<'_>) {
        assert!(self.open.lock().unwrap().contains(&step.id()));
        self.line(format!("{} >", step.step()));
    }

    fn step_poll_ended(&self, step: &ObservedStep<'_>) {
        assert!(self.open.lock().unwrap().contains(&step.id()));
        self.line(format!("{} <", step.step()));
    }
}

fn observed() -> (HookRegistry, Log) {
    keep_quiet(PLANNED);
    let log = Log::default();
    (HookRegistry::builder().observer(log.clone()).build(), log)
}

/// The notifications between the stages.
fn steps(log: &Log) -> Vec<String> {
    log.take().into_iter().filter(|line| !line.starts_with("brew/")).collect()
}

#[tokio::test]
async fn l20_an_observer_sees_each_step_and_each_of_its_polls() {
    let (hooks, log) = observed();
    let operation = async |litres| {
        tokio::task::yield_now().await;
        Ok::<u32, String>(litres)
    };
    let flow = hooks.flow::<Brew>().validate(|_| Ok::<_, String>(()));
    flow.run(1, operation).await.unwrap();
    assert_eq!(
        log.take(),
        [
            "brew begins",
            "brew/beforeValidation begins",
            "brew/beforeValidation ends: ran",
            "validation begins",
            "validation >",
            "validation <",
            "validation ends: ran",
            "brew/afterValidation begins",
            "brew/afterValidation ends: ran",
            "brew/beforeExecute begins",
            "brew/beforeExecute ends: ran",
            "operation begins",
            "operation >",
            "operation <",
            "operation >",
            "operation <",
            "operation ends: ran",
            "brew/afterExecute begins",
            "brew/afterExecute ends: ran",
            "brew/finally begins",
            "brew/finally ends: ran",
            "brew ends: ran",
        ]
    );

    let flow = hooks.flow::<Brew>().validate(|_| Err("no water"));
    flow.run(1, async |_| Err("not to be called")).await.unwrap_err();
    assert_eq!(
        steps(&log),
        [
            "brew begins",
            "validation begins",
            "validation >",
            "validation <",
            "validation ends: error: no water",
            "operation is not run: the flow ended before it",
            "brew ends: failed",
        ]
    );

    let cache = |flow: &mut FlowContext<Brew>| assert!(flow.respond(7));
    hooks.register(on::<BeforeExecute<Brew>>().name("cache").handler(cache)).unwrap();
    hooks.run_flow::<Brew, _>(1, async |_| Err("not to be called")).await.unwrap();
    assert_eq!(
        steps(&log),
        [
            "brew begins",
            "cache begins",
            "cache ends: answered",
            "operation is not run: a handler answered",
            "brew ends: ran",
        ]
    );
}

#[tokio::test]
async fn l20_an_operation_that_panics_has_one_end() {
    let (hooks, log) = observed();
    let torn = async |_| -> Result<u32, String> {
        tokio::task::yield_now().await;
        panic!("boiled over")
    };
    hooks.run_flow::<Brew, _>(1, torn).await.unwrap_err();
    assert_eq!(
        steps(&log),
        [
            "brew begins",
            "operation begins",
            "operation >",
            "operation <",
            "operation >",
            "operation <",
            "operation ends: panic: boiled over",
            "brew ends: failed",
        ]
    );
}

/// Wherever a run is dropped, what has started ends, and nothing else starts.
#[test]
fn l20_every_start_has_its_one_end_when_the_run_is_dropped() {
    macro_rules! waiting_at {
        ($($stage:ident),*) => {
            [$((stringify!($stage), on::<$stage<Brew>>().name("waits").handler(
                async |_: &mut FlowContext<Brew>| pending::<()>().await,
            ))),*]
        };
    }
    let stages = waiting_at![
        BeforeValidation,
        AfterValidation,
        BeforeExecute,
        AfterExecute,
        OnError,
        Finally
    ];
    for (here, waits) in stages {
        let (hooks, log) = observed();
        hooks.register(waits).unwrap();
        let operation = async |litres| match here {
            "OnError" => Err("burnt"),
            _ => Ok(litres),
        };
        let mut run = Box::pin(hooks.run_flow::<Brew, _>(1, operation));
        assert!(poll_once(run.as_mut()).is_pending(), "{here}");
        drop(run);
        let told = log.take();
        let (last, before) = told.split_last().unwrap();
        assert_eq!(last, "brew ends: dropped", "{here}");
        assert_eq!(before[before.len() - 2], "waits ends: cancelled: the fire was dropped");
    }
}

/// Waits for ever, and panics when it is dropped.
struct Bomb(#[allow(dead_code, reason = "it is there to be dropped")] Spiky);

impl Future for Bomb {
    type Output = Result<u32, String>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Pending
    }
}

/// The drop is a turn of the operation, and its panic stays in the run.
#[test]
fn l20_an_operation_that_panics_while_its_run_is_dropped_has_one_end() {
    let (hooks, log) = observed();
    let mut run = Box::pin(hooks.run_flow::<Brew, _>(1, |_| Bomb(Spiky { sharp: true })));
    assert!(poll_once(run.as_mut()).is_pending());
    drop(run);
    assert_eq!(
        steps(&log),
        [
            "brew begins",
            "operation begins",
            "operation >",
            "operation <",
            "operation >",
            "operation <",
            "operation ends: cancelled: the run was dropped",
            "brew ends: dropped",
        ]
    );
}

/// What an operation captured is the host's, also where it is never called.
#[tokio::test]
async fn l12_an_operation_that_is_not_called_is_dropped_with_care() {
    keep_quiet(PLANNED);
    let hooks = answering();
    let ended = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&ended);
    let finally = on::<Finally<Brew>>().name("count");
    let finally = finally.handler(move |_: &mut FlowContext<Brew>| *counted.lock().unwrap() += 1);
    hooks.register(finally).unwrap();
    let sharp = Spiky { sharp: true };
    let operation = async move |_| Err(sharp.to_string());
    assert_eq!(hooks.run_flow::<Brew, _>(1, operation).await.unwrap(), 7);
    assert_eq!(*ended.lock().unwrap(), 1);
}

/// An observer that panics is no failure of the run.
#[derive(Debug)]
struct Broken;

impl Observer for Broken {
    fn step_started(&self, _: &ObservedStep<'_>) {
        panic!("no leaves");
    }
    fn step_ended(&self, _: &ObservedStep<'_>, _: &StepStatus, _: Duration) {
        panic!("no leaves");
    }
    fn step_poll_started(&self, _: &ObservedStep<'_>) {
        panic!("no leaves");
    }
    fn step_poll_ended(&self, _: &ObservedStep<'_>) {
        panic!("no leaves");
    }
}

#[tokio::test]
async fn l20_an_observer_that_panics_at_a_step_is_no_failure_of_the_run() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::builder().observer(Broken).build();
    let flow = hooks.flow::<Brew>().validate(|_| Ok::<_, String>(()));
    let operation = async |litres| Ok::<u32, String>(litres);
    assert_eq!(flow.run(3, operation).await.unwrap(), 3);
}
