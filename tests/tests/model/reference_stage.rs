//! What the handlers of one run share, in the plainly right registry.

use hooks_runtime::flow::StageKind;
use hooks_runtime::report::{AnswerRefusal, Contribution, RecoveryRefusal, SkipReason};

use crate::event::{Event, placeless};
use crate::plan::Steer;
use crate::reference::{Handler, owner};
use crate::reference_fire::{Composer, Failure, Next, known};

/// What the handlers of one run share.
pub struct Shared {
    pub stage: StageKind,
    pub input: Option<u32>,
    pub output: Option<u32>,
    pub error: Option<String>,
    /// Whether that is the operation's.
    pub operation_failed: bool,
    /// The handler that recovered, and its owner.
    pub recovered: Option<(String, String)>,
    pub before: u32,
    pub signal: Option<Signal>,
    /// What the handler that runs answered.
    pub answer: Option<u32>,
    /// Why an answer of the handler that runs was refused.
    pub refused: Option<Contribution>,
    /// Whether a handler of this stage answered and ended well.
    pub answered: bool,
    /// Whether a handler skipped the rest of the stage.
    pub skipped: bool,
    pub aborted: Option<String>,
}

pub enum Signal {
    Skip,
    Abort,
}

impl Shared {
    /// Whether the outcome stands whatever the handlers do.
    fn is_settled(&self) -> bool {
        matches!(self.stage, StageKind::OnError | StageKind::Finally)
    }

    /// Why one more recovery is refused, if it is.
    fn refuses_a_recovery(&self) -> Option<RecoveryRefusal> {
        if self.stage != StageKind::OnError {
            Some(RecoveryRefusal::OtherStage)
        } else if !self.operation_failed {
            Some(RecoveryRefusal::OtherFailure)
        } else if self.recovered.is_some() {
            Some(RecoveryRefusal::EarlierRecovery)
        } else if self.answer.is_some() {
            Some(RecoveryRefusal::OwnRecovery)
        } else {
            None
        }
    }

    /// Notes one more answer or recovery; whether it counts so far.
    fn give(&mut self, value: u32, refused: Option<Contribution>) -> bool {
        let taken = refused.is_none();
        if taken {
            self.answer = Some(value);
        } else {
            self.refused = refused;
        }
        taken
    }

    /// Why one more answer is refused, if it is.
    fn refuses_an_answer(&self) -> Option<AnswerRefusal> {
        if self.is_settled() {
            Some(AnswerRefusal::Settled)
        } else if self.answered {
            Some(AnswerRefusal::EarlierAnswer)
        } else if self.answer.is_some() {
            Some(AnswerRefusal::OwnAnswer)
        } else {
            None
        }
    }

    /// Takes the answer of a handler that ended well; what it contributed.
    fn take_answer(&mut self, handler: &Handler) -> Option<Contribution> {
        let mut contributed = None;
        if let Some(answer) = self.answer.take() {
            self.output = Some(answer);
            if self.stage == StageKind::OnError {
                self.recovered = Some((placeless(&handler.name), owner(handler.plugin)));
                contributed = Some(Contribution::Recovered);
            } else {
                self.answered = true;
                contributed = Some(Contribution::Answered);
            }
        }
        self.refused.take().or(contributed)
    }
}

impl Composer for Shared {
    fn saw(&mut self, handler: &Handler) -> String {
        // What a failed handler before asked for and answered is dropped.
        self.signal = None;
        self.answer = None;
        self.refused = None;
        self.before += 1;
        format!(
            "{} {:?} {:?} {:?} {} {}{}",
            self.stage,
            self.input,
            self.output,
            self.error,
            self.recovered.is_some(),
            self.before - 1,
            known(handler),
        )
    }

    fn steer(&mut self, handler: &Handler, events: &mut Vec<Event>) {
        for steer in &handler.script.steers {
            let taken = match *steer {
                Steer::Skip => {
                    self.signal.get_or_insert(Signal::Skip);
                    continue;
                }
                Steer::Abort => {
                    self.signal = Some(Signal::Abort);
                    continue;
                }
                Steer::Respond(value) => {
                    let refused = self.refuses_an_answer().map(Contribution::AnswerRefused);
                    self.give(value, refused)
                }
                Steer::Recover(value) => {
                    let refused = self.refuses_a_recovery().map(Contribution::RecoveryRefused);
                    self.give(value, refused)
                }
                Steer::Rewrite(value) => self.input.as_mut().map(|i| *i = value).is_some(),
                Steer::Touch(value) => {
                    let settled = self.is_settled();
                    let output = self.output.as_mut().filter(|_| !settled);
                    let output = self.answer.as_mut().or(output);
                    output.map(|output| *output = value).is_some()
                }
            };
            events.push(Event::Steered { tag: handler.tag, taken });
        }
    }

    fn accept(&mut self, handler: &Handler) -> Next {
        self.skipped = matches!(self.signal, Some(Signal::Skip));
        match self.signal.take() {
            None => Next::On(self.take_answer(handler).unwrap_or(Contribution::Nothing)),
            // That it skipped the rest as well is in the rows of the rest.
            Some(Signal::Skip) => {
                let contributed = self.take_answer(handler).unwrap_or(Contribution::Skipped);
                Next::End(contributed, SkipReason::AfterSkip)
            }
            Some(Signal::Abort) if self.is_settled() => Next::Failed(Failure::error("boom")),
            Some(Signal::Abort) => {
                self.aborted = Some(format!(
                    "`made` was aborted in {} by `{}` ({}): boom",
                    self.stage,
                    placeless(&handler.name),
                    owner(handler.plugin),
                ));
                Next::End(Contribution::Aborted("boom".into()), SkipReason::AfterAbort)
            }
        }
    }
}
