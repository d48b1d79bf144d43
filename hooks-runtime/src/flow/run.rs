//! One run of a flow, from its input to its end.

use std::fmt::{self, Debug};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::slice;
use std::sync::Arc;

use crate::dispatch::fire::{Fire, Terms};
use crate::dispatch::ground::Begun;
use crate::dispatch::sequential::Sequential;
use crate::dispatch::watch::Watch;
use crate::error::BoxError;
use crate::flow::host::{self, Uncalled, Validation};
use crate::flow::staging::{Ended, Staging};
use crate::flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, FlowPoint, FlowReport, FlowStep, NotRun, OnError, Stage, StageKind, StepReport,
};
use crate::handler::target::Target;
use crate::models::{FiresAs, Flow};
use crate::nesting::{self, Nested};
use crate::observe::FireEnd;
use crate::panics::shown;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::snapshot::Root;

/// The operation of a flow: an async function or closure from its input to a
/// `Result` of its output.
#[diagnostic::on_unimplemented(
    message = "this is not an operation for the flow `{F}`",
    label = "expected an async function or closure from `{Input}` to `Result<{Output}, E>`",
    note = "write `async |input: {Input}| -> Result<{Output}, E> {{ … }}`",
    note = "the error `E` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait Operation<F: HookPoint, Input = <F as HookPoint>::Payload, Output = <F as HookPoint>::Result>:
    // Both say the same; the second lets the compiler infer a closure's types.
    FnOnce(Input) -> <Self as Operation<F, Input, Output>>::Future
    + AsyncFnOnce(Input) -> Result<Output, <Self as Operation<F, Input, Output>>::Error>
{
    /// The future of the call.
    type Future: Future<Output = Result<Output, Self::Error>>;
    /// The operation's own error.
    type Error: Into<BoxError>;
}

#[diagnostic::do_not_recommend]
impl<F, I, R, O, Fut, E> Operation<F, I, R> for O
where
    F: HookPoint,
    O: FnOnce(I) -> Fut + AsyncFnOnce(I) -> Result<R, E>,
    Fut: Future<Output = Result<R, E>>,
    E: Into<BoxError>,
{
    type Future = Fut;
    type Error = E;
}

/// A run of the flow `F` to be: its validation and its targets.
#[must_use = "call `run`"]
pub struct FlowRun<'h, F: FlowPoint> {
    hooks: &'h ScopedHooks,
    validation: Option<Box<Validation<F>>>,
    targets: Vec<Target>,
}

impl ScopedHooks {
    /// Runs the flow `F` around `operation`.
    pub async fn run_flow<F, O>(
        &self,
        input: F::Payload,
        operation: O,
    ) -> Result<F::Result, FlowError>
    where
        F: HookPoint,
        F::Model: FiresAs<Flow, F>,
        F: FlowPoint,
        O: Operation<F>,
    {
        self.flow::<F>().run(input, operation).await
    }

    /// A run of the flow `F` with a validation, a target or a report.
    pub fn flow<F: FlowPoint>(&self) -> FlowRun<'_, F> {
        FlowRun { hooks: self, validation: None, targets: Vec::new() }
    }
}

impl<F: FlowPoint> FlowRun<'_, F> {
    /// The flow's own validation, between the first two stages. It is left
    /// out when a handler answered before it.
    pub fn validate<E: Into<BoxError>>(
        mut self,
        validation: impl Fn(&F::Payload) -> Result<(), E> + Send + Sync + 'static,
    ) -> Self {
        self.validation = Some(Box::new(move |input| validation(input).map_err(Into::into)));
        self
    }

    /// This run is for the type `T`: handlers bound to it take part.
    pub fn target<T: 'static>(mut self) -> Self {
        self.targets.push(Target::of::<T>());
        self
    }

    /// This run is for what has that name: handlers bound to it take part.
    pub fn target_named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.targets.push(Target::named(name));
        self
    }

    #[cfg(feature = "json")]
    pub(crate) fn for_targets(mut self, targets: Vec<Target>) -> Self {
        self.targets = targets;
        self
    }

    /// Runs the flow.
    pub async fn run<O: Operation<F>>(
        self,
        input: F::Payload,
        operation: O,
    ) -> Result<F::Result, FlowError> {
        self.drive(input, operation, None).await
    }

    /// Runs the flow and reports every stage, the validation and the operation.
    pub async fn run_reported<O: Operation<F>>(
        self,
        input: F::Payload,
        operation: O,
    ) -> (Result<F::Result, FlowError>, FlowReport) {
        let mut report = FlowReport::new(F::NAME, self.validation.is_some());
        let outcome = self.drive(input, operation, Some(&mut report)).await;
        (outcome, report)
    }

    async fn drive<O: Operation<F>>(
        self,
        input: F::Payload,
        operation: O,
        report: Option<&mut FlowReport>,
    ) -> Result<F::Result, FlowError> {
        let (point, registry) = (F::NAME, self.hooks.registry());
        let nested = Nested { point, registry, fire: 0 };
        drop(nesting::enter(nested, self.hooks.inner.settings.depth).map_err(FlowError::Fire)?);
        self.hooks.listening::<F>().map_err(FlowError::Fire)?;
        let watched = report.is_some() || !self.hooks.inner.settings.observers.is_empty();
        let watch = watched.then(|| Watch::observing::<F>(self.hooks));
        let watch = watch.as_ref();
        let nested = Nested { fire: watch.map_or(0, Watch::id), ..nested };
        let mut drive = pin!(async {
            let mut driver = Driver::<F> {
                run: &self,
                context: FlowContext::new(input, self.hooks.clone()),
                handlers: self.hooks.inner.published.current(),
                report,
                watch,
                steps: if self.validation.is_some() { BOTH_STEPS } else { OPERATION }.iter(),
            };
            let outcome = driver.run_to_output(Uncalled::new(operation)).await;
            driver.run_to_end(outcome).await
        });
        let outcome = poll_fn(|task| nesting::within(nested, || drive.as_mut().poll(task))).await;
        if let Some(watch) = watch {
            match &outcome {
                Ok(_) => watch.fire_ended(&FireEnd::Completed("ran")),
                Err(error) => watch.fire_ended(&FireEnd::FlowFailed(&shown(error))),
            }
        }
        outcome
    }
}

/// Takes one run through its stages.
struct Driver<'r, F: FlowPoint> {
    run: &'r FlowRun<'r, F>,
    context: FlowContext<F>,
    /// All handlers as they were when the run began.
    handlers: Arc<Root>,
    report: Option<&'r mut FlowReport>,
    /// Where the run is reported or observed.
    watch: Option<&'r Watch<'r>>,
    /// The host's steps that are to come.
    steps: slice::Iter<'static, FlowStep>,
}

const BOTH_STEPS: &[FlowStep] = &[FlowStep::Validation, FlowStep::Operation];
const OPERATION: &[FlowStep] = &[FlowStep::Operation];
const ONLY_THE_OPERATION: &str = "only the operation takes the input";

impl<F: FlowPoint> Driver<'_, F> {
    /// Everything up to `AfterExecute`. The output is in the context then.
    async fn run_to_output<O: Operation<F>>(
        &mut self,
        operation: Uncalled<O>,
    ) -> Result<(), FlowError> {
        self.stage::<BeforeValidation<F>>(StageKind::BeforeValidation).await?;
        self.validate()?;
        self.stage::<AfterValidation<F>>(StageKind::AfterValidation).await?;
        self.stage::<BeforeExecute<F>>(StageKind::BeforeExecute).await?;
        self.operate(operation).await?;
        self.stage::<AfterExecute<F>>(StageKind::AfterExecute).await
    }

    fn validate(&mut self) -> Result<(), FlowError> {
        let Some(validation) = &self.run.validation else { return Ok(()) };
        if self.context.output.is_some() {
            self.not_run(NotRun::Answered);
            return Ok(());
        }
        let input = self.context.input.as_ref().expect(ONLY_THE_OPERATION);
        let (valid, report) = host::validate::<F>(validation, input, self.watch);
        self.stepped(report);
        valid
    }

    /// The operation, unless a handler answered in its place.
    async fn operate<O: Operation<F>>(&mut self, operation: Uncalled<O>) -> Result<(), FlowError> {
        if self.context.output.is_some() {
            self.not_run(NotRun::Answered);
            return Ok(());
        }
        let input = self.context.input.take().expect(ONLY_THE_OPERATION);
        let (output, report) = host::operate::<F, O>(operation, input, self.watch).await;
        self.stepped(report);
        self.context.output = Some(output?);
        Ok(())
    }

    /// The next step has ended.
    fn stepped(&mut self, ended: Option<StepReport>) {
        let step = self.steps.next();
        if let (Some(report), Some(step), Some(ended)) = (&mut self.report, step, ended) {
            report.set(*step, ended);
        }
    }

    /// The next step is not run.
    fn not_run(&mut self, reason: NotRun) {
        let step = self.steps.next();
        if let (Some(watch), Some(step)) = (self.watch, step) {
            watch.step_not_run(*step, reason);
            if let Some(report) = &mut self.report {
                report.set(*step, StepReport::not_run(reason));
            }
        }
    }

    /// `OnError` if there is one, then `Finally`.
    async fn run_to_end(mut self, outcome: Result<(), FlowError>) -> Result<F::Result, FlowError> {
        if let Err(error) = outcome {
            while !self.steps.as_slice().is_empty() {
                self.not_run(NotRun::NotReached);
            }
            self.context.error = Some(error);
            // Their failures are reported and never hide the first error.
            let _reported = self.stage::<OnError<F>>(StageKind::OnError).await;
        }
        let _reported = self.stage::<Finally<F>>(StageKind::Finally).await;
        match self.context.error.take() {
            None => Ok(self.context.output.take().expect("a flow without error has an output")),
            Some(error) => Err(error),
        }
    }

    /// Runs one stage.
    async fn stage<S>(&mut self, kind: StageKind) -> Result<(), FlowError>
    where
        S: HookPoint<Payload = FlowContext<F>, Model = Stage>,
    {
        self.context.enter(kind);
        let hooks = self.run.hooks;
        let reported = self.report.is_some();
        let watch = self.watch.map(|run| run.stage::<S>(hooks, reported));
        // Marks the stage as fired; who takes part was settled when the run
        // began, so that it sees one version of every plugin.
        hooks.listening::<S>().map_err(FlowError::Fire)?;
        let terms = Terms { targets: &self.run.targets, handlers: &self.handlers };
        let fire = Fire { terms: Some(&terms), ..Fire::of::<S>(hooks, watch.as_ref()) };
        let staging = Staging::<S> {
            context: &mut self.context,
            fixed: S::descriptor().is_fixed(),
            ended: Ended::Not,
        };
        let ran = Begun::<S, Stage, Sequential<'_, S>>::new(fire, staging).await;
        if let (Some(report), Some(watch)) = (&mut self.report, watch) {
            let stage = watch.into_report();
            if !stage.handlers().is_empty() {
                report.push(stage);
            }
        }
        let ended = ran.map_err(FlowError::Fire)?;
        match ended {
            Ended::Not | Ended::Skipped => Ok(()),
            Ended::Aborted(handler, owner, error) => {
                Err(FlowError::Aborted { flow: F::NAME, stage: kind, handler, owner, error })
            }
        }
    }
}

impl<F: FlowPoint> Debug for FlowRun<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRun").field("flow", &F::NAME).field("targets", &self.targets).finish()
    }
}
