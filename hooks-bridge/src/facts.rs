//! What happened in the host, in words that belong to no dialect.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// What an event is for, whatever a dialect calls it.
///
/// ```
/// use hooks_bridge::EventKind;
///
/// assert!(EventKind::BeforeTool.is_gate());
/// assert!(!EventKind::AfterTool.is_gate());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// A tool is to be called: rewritten, allowed or denied.
    BeforeTool,
    /// The user is to be asked for a permission.
    Permission,
    /// A tool was called.
    AfterTool,
    /// A prompt was submitted.
    Prompt,
    /// A session starts.
    SessionStart,
    /// A session ended.
    SessionEnd,
    /// The agent is to stop.
    Stop,
    /// A subagent is to stop.
    SubagentStop,
    /// Something else is to be done that can be blocked.
    Gate,
    /// Something happened.
    Observe,
}

impl EventKind {
    /// Whether a command can say no here.
    ///
    /// The example of [`EventKind`] asks it.
    pub const fn is_gate(self) -> bool {
        let before =
            matches!(self, Self::BeforeTool | Self::Permission | Self::Prompt | Self::Gate);
        before || self.is_stop()
    }

    /// Whether a command can have an agent go on here.
    ///
    /// ```
    /// assert!(hooks_bridge::EventKind::SubagentStop.is_stop());
    /// ```
    pub const fn is_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }
}

/// What happened in the host: what commands find in their stdin, under the names of their
/// dialect. What is not known is left out there.
///
/// ```
/// use hooks_bridge::{Facts, ToolFacts};
/// use serde_json::json;
///
/// let facts = Facts {
///     session_id: Some("s-1".into()),
///     tool: Some(ToolFacts::new("Bash", json!({ "command": "ls" }))),
///     ..Facts::default()
/// };
/// assert_eq!(facts.tool.unwrap().name, "Bash");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The session.
    pub session_id: Option<String>,
    /// Where the agent works.
    pub cwd: Option<PathBuf>,
    /// The model.
    pub model: Option<String>,
    /// What was asked of the agent.
    pub prompt: Option<String>,
    /// The tool that is called, or was.
    pub tool: Option<ToolFacts>,
    /// How a session began: `startup`, `resume`, `clear`.
    pub source: Option<String>,
    /// Why a session ended.
    pub reason: Option<String>,
    /// The agent's last words.
    pub last_message: Option<String>,
    /// How often the agent was made to go on, in a row.
    pub loop_count: u32,
    /// What is written to stdin beside all that, as it is: it wins.
    pub more: Map<String, Value>,
}

/// A call of a tool.
///
/// The example of [`Facts`] has one.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFacts {
    /// Its name, as the host or Claude Code has it.
    pub name: String,
    /// What it is called with.
    pub input: Value,
    /// The call.
    pub id: Option<String>,
    /// What it came back with.
    pub response: Option<Value>,
    /// Whether that is an error.
    pub failed: bool,
    /// How long it took, in milliseconds.
    pub duration_ms: Option<u64>,
}

impl ToolFacts {
    /// A call that has not been made yet.
    ///
    /// The example of [`Facts`] has one.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            input,
            id: None,
            response: None,
            failed: false,
            duration_ms: None,
        }
    }
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'s> {
    pub(crate) project: &'s Path,
    /// The folder of the plugin that brings the command.
    pub(crate) plugin: Option<&'s Path>,
}

/// A document of stdin, filled with what is known.
#[derive(Debug, Default)]
pub(crate) struct Document(Map<String, Value>);

impl Document {
    pub(crate) fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub(crate) fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.set(key, value),
            None => self,
        }
    }

    /// With what the host adds, which wins.
    pub(crate) fn finish(mut self, facts: &Facts) -> Map<String, Value> {
        self.0.extend(facts.more.clone());
        self.0
    }
}

/// The working directory as text.
pub(crate) fn cwd(facts: &Facts) -> Option<String> {
    facts.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned())
}
