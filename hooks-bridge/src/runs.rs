//! What commands did in the fires of one scope.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::answer::{Answer, Opinion, Ruling};
use crate::runner::{Cause, Exit};

/// Keeps what commands did: give one to a scope, and read it after the fires.
///
/// ```
/// # use hooks_bridge::{Bridge, Dialect, Runs, config::{Origin, Plan, Source}};
/// # use hooks_bridge::points::{SessionStarting, SessionStartingPayload};
/// # use hooks_runtime::{HookRegistry, Plugins};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let text = r#"{ "hooks": { "SessionStart": [ { "hooks": [
/// #     { "type": "command", "command": "echo Be brief." } ] } ] } }"#;
/// # let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
/// # let plan = Plan::read_text(&source, text, "/");
/// # let hooks = HookRegistry::new();
/// # hooks.register(Bridge::new("/", plan).amend::<SessionStarting>())?;
/// let runs = Runs::default();
/// let scope = hooks.scope(Plugins::All).with(runs.clone());
/// # let payload = SessionStartingPayload::default();
/// let started = scope.fire_modifying::<SessionStarting>(&payload).await?;
/// assert_eq!(started.context.as_deref(), Some("Be brief."));
/// assert_eq!(runs.take()[0].exit, Some(0));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Runs(Arc<Mutex<Vec<Run>>>);

/// One run of a command.
///
/// The example of [`Runs`] has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The handler.
    pub handler: String,
    /// Its place in the configured order, among the commands of its point.
    pub index: usize,
    /// The command, as it is written in its file.
    pub command: String,
    /// Whether it was asked again, about what later commands left.
    pub again: bool,
    /// Whether an operator had it run in shadow, so that what it said has no effect.
    pub shadow: bool,
    /// What it said.
    pub answer: Answer,
    /// Its exit code, where it ended by itself.
    pub exit: Option<i32>,
    /// How long it took.
    pub took: Duration,
    /// The end of its stderr.
    pub stderr: String,
}

impl Runs {
    pub(crate) fn add(&self, run: Run) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(run);
    }

    /// What was kept so far, in the order in which it ended.
    ///
    /// The example of [`Runs`] takes it.
    pub fn take(&self) -> Vec<Run> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why everything is to stop, where a command of the kept runs says so: of several the
    /// first in the configured order. At points that can be stopped their outcome says it
    /// too; this is for those that only tell of what has happened.
    ///
    /// ```
    /// # use hooks_bridge::{Bridge, Dialect, Runs, config::{Origin, Plan, Source}};
    /// # use hooks_points::{AfterToolCall, AfterToolCallPayload, ToolResult};
    /// # use hooks_runtime::{HookRegistry, Plugins};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let answer = r#"{"continue": false, "stopReason": "the disk is full"}"#;
    /// # let text = serde_json::json!({ "hooks": { "PostToolUse": [ { "hooks": [
    /// #     { "type": "command", "command": format!("echo '{answer}'") } ] } ] } });
    /// # let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    /// # let plan = Plan::read_text(&source, &text.to_string(), "/");
    /// # let hooks = HookRegistry::new();
    /// # hooks.register(Bridge::new("/", plan).observe::<AfterToolCall>())?;
    /// # let result = ToolResult::Success { value: "done".into(), structured: None, cost_usd: None };
    /// # let payload = AfterToolCallPayload {
    /// #     session_id: "s-1".into(), tool_name: "Bash".into(), result, duration_ms: 1 };
    /// let runs = Runs::default();
    /// let scope = hooks.scope(Plugins::All).with(runs.clone());
    /// scope.fire_void::<AfterToolCall>(&payload).await?;
    /// assert_eq!(runs.halt().as_deref(), Some("the disk is full"));
    /// # Ok(()) }
    /// ```
    pub fn halt(&self) -> Option<String> {
        halt(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Why everything is to stop, where a command says so: of several the first in order.
pub(crate) fn halt(runs: &[Run]) -> Option<String> {
    let halts = |run: &&Run| {
        let decision = run.answer.decision();
        !run.shadow && decision.is_some_and(|decision| decision.ruling == Ruling::Halt)
    };
    let first = runs.iter().filter(halts).min_by_key(|run| run.index)?;
    let reason = first.answer.decision().and_then(|decision| decision.reason.clone());
    Some(reason.unwrap_or_else(|| "stopped without a reason".into()))
}

/// The exit code of an answer, as far as it has one.
pub(crate) fn exit_code(exit: Option<Exit>, answer: &Answer) -> Option<i32> {
    match (exit, &answer.opinion) {
        (Some(Exit::Code(code)), _) => Some(code),
        (_, Opinion::Failed(failure)) => match failure.cause {
            Cause::Exit(code) => Some(code),
            _ => None,
        },
        _ => None,
    }
}
