//! What the handlers of one run of a flow share.

use std::error::Error as StdError;
use std::fmt;

use crate::engine::containment::drop_contained;
use crate::error::BoxError;
use crate::flow::answer::Answers;
use crate::flow::{FlowError, FlowPoint, StageKind, State};
use crate::observe::report::Contribution;
use crate::plugin::scope::ScopedHooks;

/// One run of the flow `F`, as its handlers see and steer it.
pub struct FlowContext<F: FlowPoint> {
    stage: StageKind,
    pub(crate) input: Option<F::Payload>,
    pub(crate) output: Option<F::Result>,
    pub(crate) error: Option<FlowError>,
    signal: Option<Signal>,
    answers: Answers<F::Result>,
    state: State,
    hooks: ScopedHooks,
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

    /// Takes the answer of the handler that ran last, which has ended well, and
    /// says what that contributed.
    fn take_answer(&mut self) -> Option<Contribution>;

    /// Drops all that the handler that ran last asked for and answered.
    fn withdraw(&mut self);
}

impl<F: FlowPoint> Signals for FlowContext<F> {
    #[inline]
    fn take_signal(&mut self) -> Option<Signal> {
        self.signal.take()
    }

    #[inline]
    fn take_answer(&mut self) -> Option<Contribution> {
        self.answers.take(&mut self.output)
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
            signal: None,
            answers: Answers::of_stage(false),
            state: State::new(),
            hooks,
        }
    }

    /// Starts a stage. What a failed handler of the stage before asked for is
    /// dropped.
    pub(crate) fn enter(&mut self, stage: StageKind) {
        self.withdraw();
        self.stage = stage;
        self.answers = Answers::of_stage(self.is_settled());
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
    pub fn input_mut(&mut self) -> Option<&mut F::Payload> {
        self.input.as_mut()
    }

    /// The output: the operation's, or the answer given in its place. A handler
    /// sees its own answer from the moment it gives it.
    pub fn output(&self) -> Option<&F::Result> {
        self.answers.given.as_ref().or(self.output.as_ref())
    }

    /// The output, to change. In `OnError` and `Finally` the outcome is final
    /// already, and there is nothing to change.
    ///
    /// What is changed in place stays changed, also when the handler fails.
    pub fn output_mut(&mut self) -> Option<&mut F::Result> {
        if self.is_settled() {
            return None;
        }
        self.answers.given.as_mut().or(self.output.as_mut())
    }

    /// Whether the outcome is final, whatever the handlers of this stage do.
    fn is_settled(&self) -> bool {
        matches!(self.stage, StageKind::OnError | StageKind::Finally)
    }

    /// Why the flow failed: in `OnError`, and in `Finally` after it.
    ///
    /// It is a [`FlowError`], and what caused it is among its sources.
    pub fn error(&self) -> Option<&(dyn StdError + Send + Sync + 'static)> {
        self.error.as_ref().map(|error| error as _)
    }

    /// The operation's own error, if it is an `E` and ended the flow.
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
        &self.hooks
    }

    /// Skips the remaining handlers of this stage. The flow goes on.
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
        self.answers.give(output)
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
