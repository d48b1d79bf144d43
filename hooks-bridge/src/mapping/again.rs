//! Asking a command once more about what is left, where a later rewrite changed what it
//! was asked about. No product does that.

use std::sync::Arc;

use hooks_runtime::handler::On;
use hooks_runtime::{BoxError, FailurePolicy, HookContext};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::notes::Notes;
use super::{CommandPoint, part};
use crate::answer::Rewrite;
use crate::bridge::Bridge;
use crate::command::{AGAIN, Command};
use crate::facts::{EventKind, Facts};
use crate::runner::{Cause, Failure};
use crate::verdict::Mode;

/// What a command was asked about, as the SHA-256 of it: the input itself is not kept beyond
/// its fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asking([u8; 32]);

/// A command at a gate, at its turn in the configured order.
pub(super) struct Turn {
    pub(super) command: Arc<Command>,
    index: usize,
    questions: Arc<Notes<Asking>>,
}

/// The same command, asked again at the end.
pub(super) struct Again {
    pub(super) command: Arc<Command>,
    index: usize,
    questions: Arc<Notes<Asking>>,
}

impl Asking {
    fn about(input: &Value) -> Self {
        Self(Sha256::digest(input.to_string()).into())
    }
}

impl Bridge {
    /// Whether the commands for such an event are asked again.
    pub(super) fn asks_again(&self, command: &Command) -> bool {
        let of_tools = matches!(command.event.kind, EventKind::BeforeTool | EventKind::Permission);
        self.shared.mode == Mode::Strict && of_tools
    }
}

impl Turn {
    pub(super) fn new(
        command: &Arc<Command>,
        index: usize,
        questions: &Arc<Notes<Asking>>,
    ) -> Arc<Self> {
        let (command, questions) = (Arc::clone(command), Arc::clone(questions));
        Arc::new(Self { command, index, questions })
    }

    /// Its turn begins: what another fire left is forgotten.
    pub(super) fn begin(&self, cx: &HookContext) {
        self.questions.begin_turn(cx.fire_key(), self.index);
    }

    /// It was asked about this input, or about what it then made of it.
    pub(super) fn asked(&self, cx: &HookContext, input: &Value) {
        self.questions.keep(cx.fire_key(), self.index, Asking::about(input));
    }

    pub(super) fn again(turn: &Arc<Self>) -> Arc<Again> {
        Arc::new(Again {
            command: Arc::clone(&turn.command),
            index: turn.index,
            questions: Arc::clone(&turn.questions),
        })
    }
}

impl Again {
    /// The registration, a part of the command's own: what an operator sets for that one
    /// holds here too, so that what is turned off there does not decide here.
    pub(super) fn on<P: CommandPoint>(&self) -> On<P> {
        part::<P>(&self.command, AGAIN).on_failure(FailurePolicy::Closed)
    }

    /// Why it refuses what is left, where it does. It is not asked about what it was asked
    /// about at its turn.
    pub(super) async fn refuses(
        &self,
        facts: &Facts,
        cx: &HookContext,
    ) -> Result<Option<String>, BoxError> {
        let input = input_of(facts);
        let is_due = match self.questions.of(cx.fire_key(), self.index) {
            Some(asked) => asked != Asking::about(&input),
            // Its matcher was not met then.
            None => self.command.takes_turn(cx),
        };
        if !is_due {
            return Ok(None);
        }
        match self.command.ask(facts, cx, true).await.effect?.refused() {
            Err(reason) => Ok(Some(reason)),
            Ok(Some(rewrite)) if changes(&rewrite, &input) => {
                let what = "would rewrite it; have it run last, or make it accept its own result";
                Err(Failure::new(Cause::Conflict(what.into())).into())
            }
            Ok(_) => Ok(None),
        }
    }
}

fn changes(rewrite: &Rewrite, input: &Value) -> bool {
    rewrite.apply(input) != *input
}

/// What a rewrite is of: the tool's input, or the prompt.
pub(super) fn input_of(facts: &Facts) -> Value {
    match (&facts.tool, &facts.prompt) {
        (Some(tool), _) => tool.input.clone(),
        (None, Some(prompt)) => Value::String(prompt.clone()),
        (None, None) => Value::Object(facts.more.clone()),
    }
}
