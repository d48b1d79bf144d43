//! One run of a flow, from its input to its end.

use std::any::TypeId;
use std::fmt::{self, Debug};
use std::future::{Future, poll_fn};
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::slice;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::engine::containment::shown;
use crate::engine::fire::{FireInfo, RunScope};
use crate::engine::nesting;
use crate::engine::raw::{ActiveStep, Nested};
use crate::error::BoxError;
use crate::flow::operation::{Attempt, Convert, Operation};
use crate::flow::stage_run::StageEnd;
use crate::flow::validation::{AsyncValidation, SyncValidation, Uncalled, Validation};
use crate::flow::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    FlowError, FlowPoint, FlowReport, FlowStep, NotRun, OnError, Participants, Recovery, RunOf,
    RunsAs, Stage, StageKind, StepReport,
};
use crate::flow::{host, validation};
use crate::handler::target::Target;
use crate::observe::recorder::Recorder;
use crate::observe::{FireEnd, log};
use crate::operator::rules::Began;
use crate::operator::trace::Payload;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::point::interest::Interest;
use crate::registry::snapshot::Snapshot;
use crate::timer::try_now;

/// Builds a run of the flow `F`: its validation and its targets.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub flow Transfer(u64) -> u64; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let known = |amount: &u64| if *amount > 0 { Ok(()) } else { Err("nothing to transfer") };
/// let transfer = async |amount| Ok::<_, std::io::Error>(amount);
/// let (outcome, report) = hooks
///     .flow::<Transfer>()
///     .validate(known)
///     .target_named("savings")
///     .run_reported(0, transfer)
///     .await;
/// assert_eq!(outcome.unwrap_err().to_string(), "the input of `transfer` is not valid: nothing to transfer");
/// assert_eq!(report.operation().status().as_str(), "not_run");
/// # Ok(()) }
/// ```
#[must_use = "call `run`"]
pub struct FlowRun<'h, F: FlowPoint, V = SyncValidation<'h, F>> {
    hooks: &'h ScopedHooks,
    validation: V,
    targets: Vec<Target>,
    flow: PhantomData<fn() -> F>,
}

impl ScopedHooks {
    /// Runs the flow `F` around `operation`: `hooks.flow::<F>().run(input, operation)`
    /// in one call. Its second parameter, the operation's type, is written `_`.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub flow Compress(Vec<u8>) -> usize; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let size = hooks
    ///     .run_flow::<Compress, _>(vec![0; 9], async |bytes| Ok::<_, std::io::Error>(bytes.len() / 3))
    ///     .await?;
    /// assert_eq!(size, 3);
    /// # Ok(()) }
    /// ```
    // The compiler quotes this line where the `_` was left out.
    pub fn run_flow<F, O /* write `run_flow::<F, _>(…)` or `flow::<F>().run(…)` */>(
        &self,
        input: <RunOf<F> as HookPoint>::Payload,
        operation: O,
    ) -> <F::Model as RunsAs<F>>::Run<
        impl Future<Output = Result<<RunOf<F> as HookPoint>::Result, FlowError>>,
    >
    where
        F: HookPoint<Model: RunsAs<F>>,
        O: Operation<RunOf<F>>,
    {
        <F::Model as RunsAs<F>>::run(self.flow::<F>().drive(input, operation, O::Error::into, None))
    }

    /// A run of the flow `F`, and where it has any, its validation, its targets and its
    /// report.
    ///
    /// The example of [`FlowRun`] has each of them.
    pub fn flow<F: HookPoint<Model: RunsAs<F>>>(&self) -> FlowRun<'_, RunOf<F>> {
        let validation = SyncValidation::none();
        FlowRun { hooks: self, validation, targets: Vec::new(), flow: PhantomData }
    }
}

impl<'h, F: FlowPoint, V: Validation<F>> FlowRun<'h, F, V> {
    /// The flow's own validation, between the first two stages. It is left
    /// out when a handler answered before it.
    ///
    /// It may borrow from where the flow is run. A run has one validation, the last
    /// that was given.
    pub fn validate<E: Into<BoxError>>(
        self,
        validation: impl FnOnce(&F::Payload) -> Result<(), E> + Send + 'h,
    ) -> FlowRun<'h, F> {
        self.validated(SyncValidation::new(validation))
    }

    /// As [`validate`](Self::validate), with an async function or closure. It may
    /// borrow from the input and from where the flow is run, and nothing of it is
    /// boxed:
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! {
    /// #     /// One look-up, stage by stage.
    /// #     pub flow Lookup(String) -> String;
    /// # }
    /// # struct Directory;
    /// # impl Directory { async fn knows(&self, key: &str) -> bool { key == "lamp" } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (hooks, directory) = (HookRegistry::new(), Directory);
    /// let lookup = async |key| Ok::<_, std::io::Error>(format!("{key}: on the shelf"));
    /// let known = async |key: &String| match directory.knows(key).await {
    ///     true => Ok(()),
    ///     false => Err(format!("there is no {key}")),
    /// };
    /// let found = hooks.flow::<Lookup>().validate_async(known).run("lump".to_owned(), lookup).await;
    /// assert_eq!(found.unwrap_err().to_string(), "the input of `lookup` is not valid: there is no lump");
    /// # }
    /// ```
    ///
    /// The run can be spawned where the validation and its future are `Send`, as at
    /// [`run`](Self::run).
    pub fn validate_async<W, E>(self, validation: W) -> FlowRun<'h, F, AsyncValidation<F, W>>
    where
        W: AsyncFnOnce(&F::Payload) -> Result<(), E>,
        E: Into<BoxError>,
    {
        self.validated(validation::awaited(validation))
    }

    fn validated<W>(self, validation: W) -> FlowRun<'h, F, W> {
        FlowRun { hooks: self.hooks, validation, targets: self.targets, flow: PhantomData }
    }

    /// This run is for the type `T`: handlers bound to it take part.
    ///
    /// ```
    /// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub flow Draw(u32) -> u32; }
    /// struct Circle;
    /// struct Square;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let round = on::<BeforeExecute<Draw>>().name("round").target::<Circle>();
    /// hooks.register(round.handler(|flow: &mut FlowContext<Draw>| { flow.respond(3); }))?;
    /// let draw = async |sides| Ok::<_, std::io::Error>(sides);
    /// assert_eq!(hooks.flow::<Draw>().target::<Square>().run(4, draw).await?, 4);
    /// assert_eq!(hooks.flow::<Draw>().target::<Circle>().run(4, draw).await?, 3);
    /// # Ok(()) }
    /// ```
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
    ///
    /// The run can be spawned, or boxed as a `dyn Future + Send`, where its input, the
    /// operation, the validation and their futures are `Send`, whatever they fail with:
    ///
    /// ```
    /// # use hooks_runtime::{BoxError, HookRegistry, hook_points};
    /// # hook_points! {
    /// #     /// One look-up, stage by stage.
    /// #     pub flow Lookup(String) -> String;
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let hooks = HookRegistry::new();
    /// let run = tokio::spawn(async move {
    ///     let lookup = async |key: String| Ok::<_, BoxError>(format!("shelf {}", key.parse::<u8>()?));
    ///     hooks.flow::<Lookup>().run("7".to_owned(), lookup).await
    /// });
    /// assert_eq!(run.await.unwrap().unwrap(), "shelf 7");
    /// # }
    /// ```
    ///
    /// The compiler refuses one case, with "not general enough" or "one type is more
    /// general than the other": an async closure, where the type of the flow's input or
    /// output is written with a lifetime or a `dyn`, as `&'static str` and
    /// `Vec<Box<dyn Any>>` are. Write an `async fn`, or a struct around that type.
    pub async fn run<O: Operation<F>>(
        self,
        input: F::Payload,
        operation: O,
    ) -> Result<F::Result, FlowError> {
        self.drive(input, operation, O::Error::into, None).await
    }

    /// Runs the flow and reports every stage, the validation and the operation.
    pub async fn run_reported<O: Operation<F>>(
        self,
        input: F::Payload,
        operation: O,
    ) -> (Result<F::Result, FlowError>, FlowReport) {
        let break_glass = self.hooks.inner.holding_break_glass();
        let mut report = FlowReport::new(F::NAME, self.validation.is_given(), break_glass);
        let outcome = self.drive(input, operation, O::Error::into, Some(&mut report)).await;
        (outcome, report)
    }

    async fn drive<O: Attempt<F::Payload, F::Result>>(
        self,
        input: F::Payload,
        operation: O,
        convert: Convert<O::Error>,
        report: Option<&mut FlowReport>,
    ) -> Result<F::Result, FlowError> {
        let Self { hooks, validation, targets, .. } = self;
        let info = FireInfo::of::<F>(hooks);
        let nested = Nested { point: info.point, registry: hooks.registry(), fire: 0 };
        nesting::check_run(nested, hooks.inner.config.depth).map_err(FlowError::Fire)?;
        let interest = hooks.interest(info.point).map_err(FlowError::Fire)?;
        // Before the recorder and the run itself, so dropped after them: what the
        // run has of its participants is gone when it ends for them.
        let participants = Participants::new(F::NAME);
        let is_observed = interest == Interest::Observed;
        let recorder = (report.is_some() || is_observed).then(|| Recorder::observing(info));
        let nested = Nested { fire: recorder.as_ref().map_or(0, Recorder::id), ..nested };
        let recorder = RunRecorder { recorder, nested, run: participants.id() };
        let recorder = recorder.recorder.as_ref();
        if let Some(recorder) = recorder {
            #[cfg(feature = "record")]
            recorder.for_targets(&targets);
            recorder.begin(&mut Payload::Given(&input, TypeId::of::<F>()));
        }
        let drive = pin!(Some(async {
            let mut driver = Driver::<F> {
                hooks,
                targets: &targets,
                context: FlowContext::new(input, hooks.clone()),
                handlers: hooks.inner.published.load_full(ActiveStep::push(nested)),
                participants: &participants,
                report,
                recorder,
                began: Began::default(),
                steps: if validation.is_given() { BOTH_STEPS } else { OPERATION }.iter(),
            };
            driver.begin();
            let outcome = driver
                .run_to_output(validation, Uncalled::new(FlowStep::Operation, operation), convert)
                .await;
            driver.run_to_end(outcome).await
        }));
        let mut driving = Driving { future: drive, nested, run: participants.id() };
        let outcome = poll_fn(|task| driving.poll(task)).await;
        if let Some(recorder) = recorder {
            // On the chain still: a wait for a participant would wait for this run.
            nesting::within(nested, participants.id(), || match &outcome {
                Ok((_, how)) => recorder.fire_ended(&FireEnd::Completed(how)),
                Err(error) => recorder.fire_ended(&FireEnd::FlowFailed(&shown(error))),
            });
        }
        outcome.map(|(output, _)| output)
    }
}

/// The recorder of a run, which is on the chain of fires while that is dropped: of a
/// run that is dropped, it notifies observers of the end.
struct RunRecorder<'r> {
    recorder: Option<Recorder<'r>>,
    nested: Nested,
    run: usize,
}

impl Drop for RunRecorder<'_> {
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            nesting::within(self.nested, self.run, || drop(recorder));
        }
    }
}

/// A run under way, which is on the chain of fires while it is polled or dropped.
struct Driving<'d, Fut> {
    /// `None` once it has ended.
    future: Pin<&'d mut Option<Fut>>,
    nested: Nested,
    run: usize,
}

impl<Fut: Future> Driving<'_, Fut> {
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<Fut::Output> {
        let Self { future, nested, run } = self;
        nesting::within(*nested, *run, || {
            let Some(drive) = future.as_mut().as_pin_mut() else { return Poll::Pending };
            let polled = drive.poll(task);
            if polled.is_ready() {
                future.set(None);
            }
            polled
        })
    }
}

impl<Fut> Drop for Driving<'_, Fut> {
    fn drop(&mut self) {
        let Self { future, nested, run } = self;
        if future.is_some() {
            nesting::within(*nested, *run, || future.set(None));
        }
    }
}

/// Takes one run through its stages.
struct Driver<'r, F: FlowPoint> {
    hooks: &'r ScopedHooks,
    targets: &'r [Target],
    context: FlowContext<F>,
    /// All handlers as they were when the run began.
    handlers: Arc<Snapshot>,
    participants: &'r Participants,
    report: Option<&'r mut FlowReport>,
    /// Where the run is reported or observed.
    recorder: Option<&'r Recorder<'r>>,
    /// When it began, as far as an operator's settings ask for that.
    began: Began,
    /// The host's steps that are to come.
    steps: slice::Iter<'static, FlowStep>,
}

const BOTH_STEPS: &[FlowStep] = &[FlowStep::Validation, FlowStep::Operation];
const OPERATION: &[FlowStep] = &[FlowStep::Operation];
const ONLY_THE_OPERATION: &str = "only the operation takes the input";

impl<F: FlowPoint> Driver<'_, F> {
    /// The run begins: all its stages use what an operator has set then.
    fn begin(&mut self) {
        let stages = StageKind::ALL.map(|stage| F::stages().get(stage).index_so_far());
        let lists = stages.iter().filter_map(|index| self.handlers.list(*index));
        let rules = lists.filter_map(|list| list.rules()).map(|rules| &**rules);
        let clock = || try_now(&*self.hooks.inner.config.timer);
        self.began = Began::of_run(rules, clock, || self.hooks.inner.sample_number(self.recorder));
    }

    /// Everything up to `AfterExecute`. The output is in the context then.
    async fn run_to_output<V: Validation<F>, O: Attempt<F::Payload, F::Result>>(
        &mut self,
        validation: V,
        operation: Uncalled<O>,
        convert: Convert<O::Error>,
    ) -> Result<(), FlowError> {
        self.stage::<BeforeValidation<F>>(StageKind::BeforeValidation).await?;
        self.validate(validation).await?;
        self.stage::<AfterValidation<F>>(StageKind::AfterValidation).await?;
        self.stage::<BeforeExecute<F>>(StageKind::BeforeExecute).await?;
        self.operate(operation, convert).await?;
        self.stage::<AfterExecute<F>>(StageKind::AfterExecute).await
    }

    async fn validate<V: Validation<F>>(&mut self, validation: V) -> Result<(), FlowError> {
        if !validation.is_given() {
            return Ok(());
        }
        if self.context.output.is_some() {
            self.not_run(NotRun::Answered);
            return Ok(());
        }
        let input = self.context.input.as_ref().expect(ONLY_THE_OPERATION);
        let (valid, report) = host::validate::<F, V>(validation, input, self.recorder).await;
        self.stepped(report);
        valid
    }

    /// The operation, unless a handler answered in its place.
    async fn operate<O: Attempt<F::Payload, F::Result>>(
        &mut self,
        operation: Uncalled<O>,
        convert: Convert<O::Error>,
    ) -> Result<(), FlowError> {
        if self.context.output.is_some() {
            self.not_run(NotRun::Answered);
            return Ok(());
        }
        let input = self.context.input.take().expect(ONLY_THE_OPERATION);
        let (output, report) =
            host::operate::<F, O>(operation, convert, input, self.recorder).await;
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
        if let (Some(recorder), Some(step)) = (self.recorder, step) {
            recorder.step_not_run(*step, reason);
            if let Some(report) = &mut self.report {
                report.set(*step, StepReport::not_run(reason));
            }
        }
    }

    /// `OnError` if there is one, then `Finally`. How the flow ended is a word for
    /// observers.
    async fn run_to_end(
        mut self,
        outcome: Result<(), FlowError>,
    ) -> Result<(F::Result, &'static str), FlowError> {
        if let Err(error) = outcome {
            while !self.steps.as_slice().is_empty() {
                self.not_run(NotRun::NotReached);
            }
            self.context.error = Some(error);
            // Their failures are reported and never hide the first error.
            let _reported = self.stage::<OnError<F>>(StageKind::OnError).await;
            self.note_recovery();
        }
        let _reported = self.stage::<Finally<F>>(StageKind::Finally).await;
        let FlowContext { output, error, recovered, .. } = &mut self.context;
        let how = if recovered.is_some() { "recovered" } else { "ran" };
        // The error of a flow that was recovered is dropped with its context, contained.
        match error.take_if(|_| recovered.is_none()) {
            None => Ok((output.take().expect("a flow without error has an output"), how)),
            Some(error) => Err(error),
        }
    }

    /// Reports and logs a recovery: the host no longer gets the error.
    fn note_recovery(&mut self) {
        let FlowContext { error: Some(error), recovered: Some((handler, owner)), .. } =
            &self.context
        else {
            return;
        };
        // As it was said: it is escaped where it is printed.
        let error = match error {
            FlowError::Operation(error) => shown(error),
            FlowError::Panicked { message, .. } => format!("panicked: {message}"),
            other => shown(other),
        };
        if self.recorder.is_none_or(Recorder::logs_failures) {
            log::recovered(F::NAME, handler, owner, &error);
        }
        if let Some(report) = &mut self.report {
            report.recovered(Recovery::new(Arc::clone(handler), owner.clone(), error));
        }
    }

    /// Runs one stage.
    async fn stage<S>(&mut self, kind: StageKind) -> Result<(), FlowError>
    where
        S: HookPoint<Payload = FlowContext<F>, Model = Stage>,
    {
        self.context.enter(kind);
        let hooks = self.hooks;
        let info = FireInfo::of::<S>(hooks);
        let recorder = self.recorder.map(|run| run.stage(info, self.report.is_some()));
        // Marks the stage as fired. Which handlers take part was decided when the
        // run began, so that it sees one version of every plugin.
        hooks.interest(info.point).map_err(FlowError::Fire)?;
        let scope = RunScope {
            targets: self.targets,
            handlers: &self.handlers,
            participants: self.participants,
            began: self.began,
        };
        let fire = hooks.fire::<Stage, S>(&mut self.context);
        let ran = fire.recorded(recorder.as_ref(), Some(&scope)).await;
        if let (Some(report), Some(recorder)) = (&mut self.report, recorder) {
            let stage = recorder.into_report();
            if !stage.handlers().is_empty() {
                report.push(stage);
            }
        }
        match ran.map_err(FlowError::Fire)? {
            StageEnd::Complete | StageEnd::Skipped => Ok(()),
            StageEnd::Aborted(handler, owner, error) => {
                Err(FlowError::Aborted { flow: F::NAME, stage: kind, handler, owner, error })
            }
        }
    }
}

impl<F: FlowPoint, V> Debug for FlowRun<'_, F, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowRun").field("flow", &F::NAME).field("targets", &self.targets).finish()
    }
}
