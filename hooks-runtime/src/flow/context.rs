//! What the handlers of one run of a flow share.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::engine::containment::drop_contained;
use crate::error::BoxError;
use crate::flow::answer::{Answers, Taken};
use crate::flow::{FlowError, FlowPoint, StageKind, State};
use crate::plugin::scope::ScopedHooks;
use crate::registry::entry::Owner;

/// One run of the flow `F`, as its handlers see and steer it.
pub struct FlowContext<F: FlowPoint> {
    pub(super) stage: StageKind,
    pub(crate) input: Option<F::Payload>,
    pub(crate) output: Option<F::Result>,
    pub(crate) error: Option<FlowError>,
    /// The handler that recovered, and its owner.
    pub(crate) recovered: Option<(Arc<str>, Owner)>,
    pub(super) signal: Option<Signal>,
    pub(super) answers: Answers<F::Result>,
    pub(super) state: State,
    hooks: ScopedHooks,
}

/// A run that is not one of this registry, at one of its stages.
#[cfg(feature = "json")]
pub(crate) struct RunElsewhere<F: FlowPoint> {
    pub(crate) stage: StageKind,
    pub(crate) input: Option<F::Payload>,
    pub(crate) output: Option<F::Result>,
    pub(crate) error: Option<FlowError>,
    pub(crate) recovered: bool,
}

/// What a handler asked for.
#[derive(Debug)]
pub enum Signal {
    /// To skip the rest of the stage.
    Skip,
    /// To abort the flow.
    Abort(BoxError),
}

/// What the handler that ran last has asked for and answered.
pub trait Signals {
    /// Takes what the handler that ran last asked for.
    fn take_signal(&mut self) -> Option<Signal>;

    /// Takes the answer of the handler that ran last, which has ended well.
    fn take_answer(&mut self) -> Option<Taken>;

    /// Notes whose answer recovered the flow.
    fn recovered_by(&mut self, handler: (Arc<str>, Owner));

    /// Drops all that the handler that ran last asked for and answered.
    fn withdraw(&mut self);
}

impl<F: FlowPoint> Signals for FlowContext<F> {
    #[inline]
    fn take_signal(&mut self) -> Option<Signal> {
        self.signal.take()
    }

    #[inline]
    fn take_answer(&mut self) -> Option<Taken> {
        self.answers.take(&mut self.output)
    }

    fn recovered_by(&mut self, handler: (Arc<str>, Owner)) {
        self.recovered = Some(handler);
    }

    #[inline]
    fn withdraw(&mut self) {
        if let Some(signal) = self.signal.take() {
            drop_contained("what a handler asked for", signal);
        }
        self.answers.withdraw();
    }
}

impl<F: FlowPoint> FlowContext<F> {
    pub(crate) fn new(input: F::Payload, hooks: ScopedHooks) -> Self {
        Self {
            stage: StageKind::BeforeValidation,
            input: Some(input),
            output: None,
            error: None,
            recovered: None,
            signal: None,
            answers: Answers::of_stage(StageKind::BeforeValidation, None),
            state: State::new(),
            hooks,
        }
    }

    /// That of a run elsewhere, which has come to this stage.
    #[cfg(feature = "json")]
    pub(crate) fn of_run_elsewhere(run: RunElsewhere<F>, hooks: ScopedHooks) -> Self {
        let RunElsewhere { stage, input, output, error, recovered } = run;
        let mut answers = Answers::of_stage(stage, error.as_ref());
        if recovered {
            answers.set_recovered();
        }
        // Who did is known there.
        let recovered = recovered.then(|| ("".into(), Owner::BuiltIn));
        let (signal, state) = (None, State::new());
        Self { stage, input, output, error, recovered, signal, answers, state, hooks }
    }

    /// Starts a stage. What a failed handler of the stage before asked for is
    /// dropped.
    pub(crate) fn enter(&mut self, stage: StageKind) {
        self.withdraw();
        self.stage = stage;
        self.answers = Answers::of_stage(stage, self.error.as_ref());
    }

    /// The wire name of the flow.
    pub fn flow(&self) -> &'static str {
        F::NAME
    }

    /// The stage that runs.
    pub fn stage(&self) -> StageKind {
        self.stage
    }

    /// The input, until the operation takes it.
    pub fn input(&self) -> Option<&F::Payload> {
        self.input.as_ref()
    }

    /// The input, to rewrite, until the operation takes it.
    ///
    /// What is changed in place stays changed, also when the handler fails.
    ///
    /// ```
    /// # use hooks_runtime::{AfterValidation, FlowContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub flow Order(u32) -> u32; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<AfterValidation<Order>>().handler(|flow: &mut FlowContext<Order>| {
    ///     if let Some(amount) = flow.input_mut() {
    ///         *amount = (*amount).min(10);
    ///     }
    /// }))?;
    /// let ordered = hooks.flow::<Order>().run(99, async |amount| Ok::<_, std::io::Error>(amount)).await?;
    /// assert_eq!(ordered, 10);
    /// # Ok(()) }
    /// ```
    pub fn input_mut(&mut self) -> Option<&mut F::Payload> {
        self.input.as_mut()
    }

    /// The output: the operation's, the answer given in its place, or what a handler
    /// [recovered](Self::recover) with. A handler sees its own answer from the moment
    /// it gives it.
    pub fn output(&self) -> Option<&F::Result> {
        self.answers.given.as_ref().or(self.output.as_ref())
    }

    /// The output, to change. In `OnError` and `Finally` the outcome is final
    /// already, and there is nothing to change but a handler's own recovery.
    ///
    /// What is changed in place stays changed, also when the handler fails.
    ///
    /// ```
    /// # use hooks_runtime::{AfterExecute, FlowContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub flow Render(String) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<AfterExecute<Render>>().handler(|flow: &mut FlowContext<Render>| {
    ///     if let Some(page) = flow.output_mut() {
    ///         page.push_str("<!-- cached -->");
    ///     }
    /// }))?;
    /// let render = async |body| Ok::<_, std::io::Error>(format!("<p>{body}</p>"));
    /// let page = hooks.flow::<Render>().run("hello".to_owned(), render).await?;
    /// assert_eq!(page, "<p>hello</p><!-- cached -->");
    /// # Ok(()) }
    /// ```
    pub fn output_mut(&mut self) -> Option<&mut F::Result> {
        let is_settled = matches!(self.stage, StageKind::OnError | StageKind::Finally);
        let output = if is_settled { None } else { self.output.as_mut() };
        self.answers.given.as_mut().or(output)
    }

    /// Why the flow failed: in `OnError`, and in `Finally` after it, also where a
    /// handler [recovered](Self::recover).
    ///
    /// What caused it is among its sources; the operation's own error is that of
    /// [`operation_error`](Self::operation_error).
    ///
    /// ```
    /// # use hooks_runtime::{FlowContext, HookRegistry, OnError, hook_points, on};
    /// # hook_points! { pub flow Fetch(String) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<OnError<Fetch>>().handler(|flow: &mut FlowContext<Fetch>| {
    ///     assert_eq!(flow.error().unwrap().to_string(), "the host is down");
    /// }))?;
    /// let fetch = async |_| Err::<String, _>("the host is down");
    /// assert!(hooks.flow::<Fetch>().run("/".to_owned(), fetch).await.is_err());
    /// # Ok(()) }
    /// ```
    pub fn error(&self) -> Option<&FlowError> {
        self.error.as_ref()
    }

    /// Whether a handler of `OnError` before this one has
    /// [recovered](Self::recover): the flow ends with its output.
    ///
    /// ```
    /// # use hooks_runtime::{Finally, FlowContext, HookRegistry, OnError, hook_points, on};
    /// # hook_points! { pub flow Fetch(String) -> String; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<OnError<Fetch>>().handler(|flow: &mut FlowContext<Fetch>| {
    ///     flow.recover("the page of yesterday".to_owned());
    /// }))?;
    /// hooks.register(on::<Finally<Fetch>>().handler(|flow: &mut FlowContext<Fetch>| {
    ///     assert!(flow.is_recovered() && flow.error().is_some());
    /// }))?;
    /// let fetch = async |_| Err::<String, _>("the host is down");
    /// assert_eq!(hooks.flow::<Fetch>().run("/".to_owned(), fetch).await?, "the page of yesterday");
    /// # Ok(()) }
    /// ```
    pub fn is_recovered(&self) -> bool {
        self.recovered.is_some()
    }

    /// The operation's own error, if it is an `E` and ended the flow: what
    /// [`FlowError::downcast_ref`] finds in [`error`](Self::error).
    ///
    /// The example of [`recover`](Self::recover) uses it.
    pub fn operation_error<E: StdError + 'static>(&self) -> Option<&E> {
        self.error.as_ref()?.downcast_ref()
    }

    /// The state that the handlers of this run share.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state that the handlers of this run share, to change.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The hooks in the scope of this run.
    pub fn hooks(&self) -> &ScopedHooks {
        self.hooks.for_handlers()
    }

    /// Skips the remaining handlers of this stage. The flow goes on.
    ///
    /// ```
    /// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub flow Scan(String) -> u32; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let trusted = on::<BeforeExecute<Scan>>().name("trusted");
    /// hooks.register(trusted.handler(|flow: &mut FlowContext<Scan>| flow.skip()))?;
    /// let slow = on::<BeforeExecute<Scan>>().name("slow");
    /// hooks.register(slow.handler(|_: &mut FlowContext<Scan>| -> () { unreachable!("skipped") }))?;
    /// let scan = async |_| Ok::<_, std::io::Error>(0);
    /// assert_eq!(hooks.flow::<Scan>().run("file".to_owned(), scan).await?, 0);
    /// # Ok(()) }
    /// ```
    pub fn skip(&mut self) {
        // An abort is kept: skipping must not turn a failure into a success.
        if self.signal.is_none() {
            self.signal = Some(Signal::Skip);
        }
    }

    /// Ends the flow with an error, after this handler.
    ///
    /// In `OnError` and `Finally`, where the outcome is final already, it is
    /// reported as the handler's failure and changes nothing else.
    ///
    /// ```
    /// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
    /// # hook_points! { pub flow Delete(String) -> (); }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let keep = on::<BeforeExecute<Delete>>().name("keep");
    /// hooks.register(keep.handler(|flow: &mut FlowContext<Delete>| flow.abort("it is in use")))?;
    /// let delete = async |_| -> std::io::Result<()> { unreachable!("aborted before") };
    /// let error = hooks.flow::<Delete>().run("notes".to_owned(), delete).await.unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "`delete` was aborted in beforeExecute by `keep` (built-in): it is in use",
    /// );
    /// # Ok(()) }
    /// ```
    pub fn abort(&mut self, error: impl Into<BoxError>) {
        self.signal = Some(Signal::Abort(error.into()));
    }

    /// Answers in place of the operation: in a stage before it the operation
    /// does not run, in `AfterExecute` this replaces its output. The later
    /// stages run.
    ///
    /// The first answer of a stage is kept: a later one in the same stage, also
    /// of the same handler, is refused. So is any in `OnError` and `Finally`,
    /// where the outcome is final already. A refused answer is dropped, this
    /// returns false, and the report has the refusal. The answer of a
    /// handler that then fails or aborts does not count.
    pub fn respond(&mut self, output: F::Result) -> bool {
        self.answers.respond(output)
    }

    /// Turns a failure of the operation into this output, in `OnError`.
    ///
    /// ```
    /// # use hooks_runtime::{FlowContext, HookRegistry, OnError, hook_handler, hook_points};
    /// # hook_points! {
    /// #     /// One look-up, stage by stage.
    /// #     pub flow Lookup(String) -> String;
    /// # }
    /// use std::io::{Error, ErrorKind};
    ///
    /// #[hook_handler(OnError<Lookup>)]
    /// fn not_found_is_no_failure(flow: &mut FlowContext<Lookup>) {
    ///     let error = flow.operation_error::<Error>();
    ///     if error.is_some_and(|error| error.kind() == ErrorKind::NotFound) {
    ///         flow.recover("not in the house".to_owned());
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(hooks_runtime::handlers![not_found_is_no_failure])?;
    /// let lookup = async |_| Err(Error::from(ErrorKind::NotFound));
    /// let found = hooks.flow::<Lookup>().run("lamp".to_owned(), lookup).await?;
    /// assert_eq!(found, "not in the house");
    /// # Ok(()) }
    /// ```
    ///
    /// The run returns the output in place of the error. The later handlers of
    /// `OnError` run and see the error still, then `Finally`, where
    /// [`is_recovered`](Self::is_recovered) says so; `AfterExecute` does not run, as the
    /// operation has failed. Who recovered, and from which error, is in the report and
    /// in the log.
    ///
    /// Only a failure of the operation, by an error or by a panic, can be recovered: an
    /// abort, input that is not valid and a stage that failed end the flow. So a
    /// recovery is refused there, in every other stage, and where one was given before;
    /// the first one is kept. A refused one is dropped, this returns false, and the
    /// report has the refusal.
    ///
    /// As with [`respond`](Self::respond), the recovery of a handler that then fails,
    /// exceeds its time limit or aborts does not count: a handler that failed never
    /// makes a success of a failure. Once it has ended well it counts, however late,
    /// and whatever later handlers do.
    pub fn recover(&mut self, output: F::Result) -> bool {
        self.answers.recover(output)
    }
}

/// What the handlers put into it is their code, so that its drop may panic.
impl<F: FlowPoint> Drop for FlowContext<F> {
    fn drop(&mut self) {
        // Before what it may refer to; each value is contained.
        drop(std::mem::replace(&mut self.state, State::new()));
        drop_contained("the input of a flow", self.input.take());
        drop_contained("the output of a flow", self.output.take());
        drop_contained("the error of a flow", self.error.take());
        self.withdraw();
    }
}

impl<F: FlowPoint> fmt::Debug for FlowContext<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowContext")
            .field("flow", &F::NAME)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}
