//! What the handlers of one run of a flow share.

use std::error::Error as StdError;
use std::fmt;

use crate::error::BoxError;
use crate::flow::{FlowError, FlowPoint, StageKind, State};
use crate::panics::drop_contained;
use crate::scope::ScopedHooks;

/// One run of the flow `F`, as its handlers see and steer it.
pub struct FlowContext<F: FlowPoint> {
    pub(crate) stage: StageKind,
    pub(crate) input: Option<F::Payload>,
    pub(crate) output: Option<F::Result>,
    pub(crate) error: Option<FlowError>,
    pub(crate) signal: Option<Signal>,
    /// Whether the handler that runs gave an answer.
    pub(crate) answered: bool,
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

/// Where a handler leaves what it asks for.
pub trait Signals {
    /// What the handler that ran last asked for.
    fn signal(&mut self) -> &mut Option<Signal>;

    /// Whether the handler that ran last answered in place of the operation.
    fn answered(&mut self) -> &mut bool;
}

impl<F: FlowPoint> Signals for FlowContext<F> {
    fn signal(&mut self) -> &mut Option<Signal> {
        &mut self.signal
    }

    fn answered(&mut self) -> &mut bool {
        &mut self.answered
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
            answered: false,
            state: State::default(),
            hooks,
        }
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
    pub fn input_mut(&mut self) -> Option<&mut F::Payload> {
        self.input.as_mut()
    }

    /// The output: the operation's, or the answer given in its place.
    pub fn output(&self) -> Option<&F::Result> {
        self.output.as_ref()
    }

    /// The output, to change. In `OnError` and `Finally` the outcome stands
    /// already, and there is nothing to change.
    pub fn output_mut(&mut self) -> Option<&mut F::Result> {
        if self.is_settled() { None } else { self.output.as_mut() }
    }

    /// Whether the outcome stands whatever the handlers of this stage do.
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
        // An abort stands: skipping must not turn a failure into a success.
        if self.signal.is_none() {
            self.signal = Some(Signal::Skip);
        }
    }

    /// Ends the flow with an error, after this handler.
    ///
    /// In `OnError` and `Finally`, where the outcome stands already, it is
    /// reported as the handler's failure and changes nothing else.
    pub fn abort(&mut self, error: impl Into<BoxError>) {
        self.signal = Some(Signal::Abort(error.into()));
    }

    /// Answers in place of the operation: in a stage before it the operation
    /// does not run, in `AfterExecute` this replaces its output. The later
    /// stages run.
    ///
    /// In `OnError` and `Finally` the outcome stands already: the answer is
    /// not taken, and this says so by returning false.
    pub fn respond(&mut self, output: F::Result) -> bool {
        let taken = !self.is_settled();
        if taken {
            self.output = Some(output);
            self.answered = true;
        }
        taken
    }
}

/// What the handlers left in it is theirs, and so is a panic in dropping that.
impl<F: FlowPoint> Drop for FlowContext<F> {
    fn drop(&mut self) {
        drop_contained("the state of a flow", std::mem::take(&mut self.state));
        drop_contained("the input of a flow", self.input.take());
        drop_contained("the output of a flow", self.output.take());
        drop_contained("the error of a flow", self.error.take());
        drop_contained("what a handler asked for", self.signal.take());
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
