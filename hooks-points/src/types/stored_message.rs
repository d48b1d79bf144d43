//! Messages of a conversation's history.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::MessageRole;

/// A message in the history of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredMessage {
    /// The message's id.
    pub id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// Who speaks.
    pub role: MessageRole,
    /// What is said.
    pub content: String,
    /// In a tool's answer, the call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// In a tool's answer, the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The calls the model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<StoredToolCall>>,
    /// When it was stored: date and time in ISO 8601, as JavaScript writes them.
    pub timestamp: String,
}

/// A tool call the model asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoredToolCall {
    /// The call's id, which its answer repeats.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
}
