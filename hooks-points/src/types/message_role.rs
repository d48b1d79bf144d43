//! Who speaks.

use serde::{Deserialize, Serialize};

/// Who speaks in a message of a conversation.
///
/// The list is open: hosts add roles of their own, and a history that holds one
/// must still reach the handlers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "String", into = "String")]
pub enum MessageRole {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool that answers the model.
    ToolResult,
    /// The host itself.
    System,
    /// The person, while the model is at work.
    UserSteer,
    /// A role that only the host knows.
    Other(String),
}

impl MessageRole {
    /// The role as the wire spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolResult => "tool_result",
            Self::System => "system",
            Self::UserSteer => "user_steer",
            Self::Other(role) => role,
        }
    }
}

impl From<String> for MessageRole {
    fn from(role: String) -> Self {
        match role.as_str() {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool_result" => Self::ToolResult,
            "system" => Self::System,
            "user_steer" => Self::UserSteer,
            _ => Self::Other(role),
        }
    }
}

impl From<MessageRole> for String {
    fn from(role: MessageRole) -> Self {
        match role {
            MessageRole::Other(role) => role,
            known => known.as_str().to_owned(),
        }
    }
}
