//! The outputs that the handlers of one stage give: answers in place of the
//! operation, and in `OnError` a recovery from its failure.
//!
//! An output is held back until its handler has ended well: a handler that fails
//! or aborts contributes nothing. Once one of a stage is taken, further ones of
//! that stage are refused, so that no handler overrides another without notice; a
//! later stage may answer again.

use crate::engine::containment::drop_contained;
use crate::flow::{FlowError, StageKind};
use crate::report::{AnswerRefusal, Contribution, RecoveryRefusal};

/// The outputs that the handlers of one stage give. No stage takes both answers and
/// a recovery.
#[derive(Debug)]
pub(super) struct Answers<R> {
    /// What the running handler gave.
    pub(super) given: Option<R>,
    /// What the running handler gave and was refused, as its report has it.
    refused: Option<Contribution>,
    /// Why the next answer is refused, if it is.
    unanswerable: Option<AnswerRefusal>,
    /// Why the next recovery is refused, if it is.
    unrecoverable: Option<RecoveryRefusal>,
}

/// What a handler gives an output as.
#[cfg(feature = "record")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    /// An answer in place of the operation.
    Answer,
    /// A recovery from its failure.
    Recovery,
}

/// What came of the outputs that a handler gave.
#[derive(Debug)]
pub struct Taken {
    pub(super) contribution: Contribution,
    /// Whether it recovered the flow.
    pub(super) recovered: bool,
}

impl<R> Answers<R> {
    /// The outputs of a stage of a flow that has failed with this error, if it has.
    pub(super) fn of_stage(stage: StageKind, error: Option<&FlowError>) -> Self {
        let unanswerable = matches!(stage, StageKind::OnError | StageKind::Finally)
            .then_some(AnswerRefusal::Settled);
        let unrecoverable = match (stage, error) {
            (StageKind::OnError, Some(error)) if error.is_of_the_operation() => None,
            (StageKind::OnError, _) => Some(RecoveryRefusal::OtherFailure),
            _ => Some(RecoveryRefusal::OtherStage),
        };
        Self { given: None, refused: None, unanswerable, unrecoverable }
    }

    /// A handler of the stage has recovered before.
    #[cfg(feature = "json")]
    pub(super) fn set_recovered(&mut self) {
        self.unrecoverable = self.unrecoverable.or(Some(RecoveryRefusal::EarlierRecovery));
    }

    /// An answer of the running handler, and whether it is taken if the handler
    /// ends well.
    pub(super) fn respond(&mut self, answer: R) -> bool {
        let own = self.given.as_ref().map(|_| AnswerRefusal::OwnAnswer);
        self.give(answer, self.unanswerable.or(own).map(Contribution::AnswerRefused))
    }

    /// The same of a recovery.
    pub(super) fn recover(&mut self, output: R) -> bool {
        let own = self.given.as_ref().map(|_| RecoveryRefusal::OwnRecovery);
        self.give(output, self.unrecoverable.or(own).map(Contribution::RecoveryRefused))
    }

    fn give(&mut self, output: R, refused: Option<Contribution>) -> bool {
        if refused.is_none() {
            self.given = Some(output);
            return true;
        }
        self.refused = refused;
        drop_contained("a refused answer", output);
        false
    }

    /// Takes what a handler gave that has ended well, if it gave anything at all.
    pub(super) fn take(&mut self, output: &mut Option<R>) -> Option<Taken> {
        let refused = self.refused.take();
        let Some(answer) = self.given.take() else {
            return refused.map(|contribution| Taken { contribution, recovered: false });
        };
        drop_contained("the output that an answer replaced", output.replace(answer));
        let recovered = self.unrecoverable.is_none();
        let contribution = if recovered {
            self.unrecoverable = Some(RecoveryRefusal::EarlierRecovery);
            Contribution::Recovered
        } else {
            self.unanswerable = Some(AnswerRefusal::EarlierAnswer);
            Contribution::Answered
        };
        Some(Taken { contribution: refused.unwrap_or(contribution), recovered })
    }

    /// Whether the running handler gave something that was refused: an answer, or a recovery.
    #[cfg(feature = "record")]
    pub(super) fn refused(&self) -> Option<Given> {
        match self.refused {
            Some(Contribution::RecoveryRefused(_)) => Some(Given::Recovery),
            Some(_) => Some(Given::Answer),
            None => None,
        }
    }

    /// What the running handler gave: an answer, or in a stage that takes one a recovery.
    #[cfg(feature = "record")]
    pub(super) fn kind_of_given(&self) -> Given {
        if self.unrecoverable.is_none() { Given::Recovery } else { Given::Answer }
    }

    /// Whether an output is refused whatever it is.
    #[cfg(feature = "replay")]
    pub(super) fn refuses(&self, kind: Given) -> bool {
        self.given.is_some()
            || match kind {
                Given::Answer => self.unanswerable.is_some(),
                Given::Recovery => self.unrecoverable.is_some(),
            }
    }

    /// Refuses an output that is not known, as [`respond`](Self::respond) and
    /// [`recover`](Self::recover) would.
    #[cfg(feature = "replay")]
    pub(super) fn refuse(&mut self, kind: Given) {
        let own = self.given.is_some();
        self.refused = match kind {
            Given::Answer => self
                .unanswerable
                .or(own.then_some(AnswerRefusal::OwnAnswer))
                .map(Contribution::AnswerRefused),
            Given::Recovery => self
                .unrecoverable
                .or(own.then_some(RecoveryRefusal::OwnRecovery))
                .map(Contribution::RecoveryRefused),
        };
    }

    /// Drops what a handler gave that failed or aborted.
    pub(super) fn withdraw(&mut self) {
        self.refused = None;
        if let Some(answer) = self.given.take() {
            drop_contained("the answer of a handler that failed", answer);
        }
    }
}
