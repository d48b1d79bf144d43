//! Messages that come in.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Attachment;

/// A message that came in over a chat platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InboundMessage {
    /// The chat platform.
    pub platform: String,
    /// The chat it was written in.
    pub chat_id: String,
    /// Who wrote it, as the platform identifies people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Who wrote it, as people see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// What was written. Untrusted: anyone can write to a chat.
    pub text: String,
    /// The files sent along.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Vec<Attachment>>,
    /// The message that this one answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to_id: Option<String>,
    /// Whether the chat is between two.
    pub is_dm: bool,
    /// Whether the bot was named in a group.
    pub is_group_mention: bool,
    /// The platform's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The thread in the chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The platform's own event, untouched.
    pub raw: Value,
}
