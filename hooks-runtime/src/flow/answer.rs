//! The answers that the handlers of one stage give in place of the operation.
//!
//! An answer is held back until its handler has ended well: a handler that fails
//! or aborts contributes nothing. Once an answer of a stage is taken, further
//! answers of that stage are refused, so that no handler overrides another without
//! notice; a later stage may answer again.

use crate::engine::containment::drop_contained;
use crate::observe::report::{AnswerRefusal, Contribution};

/// The answers of one stage.
#[derive(Debug)]
pub(super) struct Answers<R> {
    /// What the running handler answered.
    pub(super) given: Option<R>,
    /// Why an answer of the running handler was refused.
    refused: Option<AnswerRefusal>,
    /// Why the next answer is refused, if it is.
    closed: Option<AnswerRefusal>,
}

impl<R> Answers<R> {
    /// The answers of a stage, which takes none where the outcome is settled.
    pub(super) fn of_stage(settled: bool) -> Self {
        let closed = settled.then_some(AnswerRefusal::Settled);
        Self { given: None, refused: None, closed }
    }

    /// An answer of the running handler, and whether it is taken if the handler
    /// ends well.
    pub(super) fn give(&mut self, answer: R) -> bool {
        let own = self.given.as_ref().map(|_| AnswerRefusal::OwnAnswer);
        match self.closed.or(own) {
            None => {
                self.given = Some(answer);
                true
            }
            refused => {
                self.refused = refused;
                drop_contained("a refused answer", answer);
                false
            }
        }
    }

    /// Takes the answer of a handler that has ended well, and says what the
    /// handler contributed, if it answered at all.
    pub(super) fn take(&mut self, output: &mut Option<R>) -> Option<Contribution> {
        let refused = self.refused.take().map(Contribution::AnswerRefused);
        let Some(answer) = self.given.take() else { return refused };
        self.closed = Some(AnswerRefusal::EarlierAnswer);
        drop_contained("the output that an answer replaced", output.replace(answer));
        refused.or(Some(Contribution::Answered))
    }

    /// Drops the answer of a handler that failed or aborted.
    pub(super) fn withdraw(&mut self) {
        self.refused = None;
        if let Some(answer) = self.given.take() {
            drop_contained("the answer of a handler that failed", answer);
        }
    }
}
