//! What is kept of each run, also where its fire does not wait for the end.

use std::time::{Duration, Instant};

use hooks_runtime::HookContext;

use super::Command;
use crate::answer::{Answer, Opinion};
use crate::runner::{Cause, Exit, Failure};
use crate::runs::{Run, Runs, exit_code};

/// A run that is under way. Dropped before it has ended, it is one that was given up.
pub(super) struct Record<'c> {
    command: &'c Command,
    runs: Option<Runs>,
    shadow: bool,
    again: bool,
    pub(super) began: Instant,
    has_ended: bool,
}

impl<'c> Record<'c> {
    pub(super) fn begin(command: &'c Command, cx: &HookContext, again: bool) -> Self {
        let (runs, shadow) = (cx.get::<Runs>().cloned(), cx.is_in_shadow());
        Self { command, runs, shadow, again, began: Instant::now(), has_ended: false }
    }

    /// It has ended, with this answer.
    pub(super) fn end(mut self, answer: &Answer, exit: Option<Exit>, stderr: String) {
        self.has_ended = true;
        self.keep(answer.clone(), exit, stderr);
    }

    fn keep(&self, answer: Answer, exit: Option<Exit>, stderr: String) {
        let Some(runs) = &self.runs else { return };
        runs.add(Run {
            handler: self.command.name.clone(),
            index: self.command.index,
            shadow: self.shadow,
            command: self.command.entry.command(),
            again: self.again,
            exit: exit_code(exit, &answer),
            answer,
            took: self.began.elapsed(),
            stderr,
        });
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let failure = Failure::new(Cause::GivenUp);
            let answer = Answer { opinion: Opinion::Failed(failure), ..Answer::none() };
            self.keep(answer, None, String::new());
        }
    }
}

/// Notes in the row of the report what the row does not say: whether there was an opinion,
/// how it was decided, how the command ended, and how long it ran.
pub(super) fn note(
    cx: &HookContext,
    background: bool,
    (answer, exit): (&Answer, Option<Exit>),
    process: Option<Duration>,
) {
    cx.note("answer", if background { "background" } else { answer.opinion.as_str() });
    if let Opinion::Decided(decision) = &answer.opinion {
        cx.note("decided_by", decision.by.as_str());
    }
    if let Some(Exit::Signal(signal)) = exit {
        cx.note("exit", format!("signal {signal}"));
    } else if let Some(code) = exit_code(exit, answer) {
        cx.note("exit", code.to_string());
    }
    if let Some(process) = process {
        cx.note("process", format!("{process:.1?}"));
    }
}
