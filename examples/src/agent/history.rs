//! What was said in a session.

use hooks_points::{MessageRole, ModelContent, ModelMessage, StoredMessage, StoredToolCall};
use serde_json::{Map, Value, json};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The person.
    User(String),
    /// The model, with the calls it asks for.
    Assistant {
        /// What it writes.
        text: String,
        /// What it wants to be run.
        calls: Vec<StoredToolCall>,
    },
    /// The answer to one of the calls. Every call gets one, also a call that
    /// was refused.
    ToolResult {
        /// The call.
        call_id: String,
        /// The tool.
        tool: String,
        /// What the model reads.
        text: String,
        /// Whether the tool did not do its work.
        is_error: bool,
    },
}

/// A message in the history of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The message's id.
    pub id: String,
    /// When it was said.
    pub timestamp: String,
    /// What was said.
    pub message: Message,
}

impl Line {
    /// The line as handlers get it.
    pub(crate) fn stored(&self, session_id: &str) -> StoredMessage {
        let stored = |role, content: &str| StoredMessage {
            id: self.id.clone(),
            session_id: session_id.to_owned(),
            role,
            content: content.to_owned(),
            tool_call_id: None,
            tool_name: None,
            tool_calls: None,
            timestamp: self.timestamp.clone(),
        };
        match &self.message {
            Message::User(text) => stored(MessageRole::User, text),
            Message::Assistant { text, calls } => StoredMessage {
                tool_calls: (!calls.is_empty()).then(|| calls.clone()),
                ..stored(MessageRole::Assistant, text)
            },
            Message::ToolResult { call_id, tool, text, .. } => StoredMessage {
                tool_call_id: Some(call_id.clone()),
                tool_name: Some(tool.clone()),
                ..stored(MessageRole::ToolResult, text)
            },
        }
    }
}

impl Message {
    /// The message as handlers see it go to the model.
    pub(crate) fn for_model(&self) -> ModelMessage {
        match self {
            Self::User(text) => {
                ModelMessage { role: MessageRole::User, content: text.as_str().into() }
            }
            Self::Assistant { text, calls } if calls.is_empty() => {
                ModelMessage { role: MessageRole::Assistant, content: text.as_str().into() }
            }
            Self::Assistant { text, calls } => {
                let said = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
                let asked = calls.iter().map(|call| {
                    let StoredToolCall { id, name, input } = call;
                    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
                });
                let blocks = said.into_iter().chain(asked).filter_map(object).collect();
                ModelMessage { role: MessageRole::Assistant, content: ModelContent::Blocks(blocks) }
            }
            Self::ToolResult { call_id, text, is_error, .. } => {
                let block = json!({
                    "type": "tool_result",
                    "tool_use_id": call_id,
                    "content": text,
                    "is_error": is_error,
                });
                let blocks = object(block).into_iter().collect();
                ModelMessage { role: MessageRole::User, content: ModelContent::Blocks(blocks) }
            }
        }
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}
