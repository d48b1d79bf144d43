//! The chat-completions shape.

use hooks_points::{FinishReason, StoredToolCall, TokenUsage, ToolDefinition};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Reply, Request};
use crate::agent::Message;

/// What is sent.
#[derive(Serialize)]
pub(super) struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

impl<'a> Body<'a> {
    pub(super) fn new(model: &'a str, request: &Request) -> Self {
        let system = json!({ "role": "system", "content": request.system });
        let messages = std::iter::once(system).chain(request.messages.iter().map(message));
        Self {
            model,
            messages: messages.collect(),
            tools: request.tools.iter().map(tool).collect(),
        }
    }
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<_> = calls
                .iter()
                .map(|StoredToolCall { id, name, input }| {
                    let function = json!({ "name": name, "arguments": input.to_string() });
                    json!({ "id": id, "type": "function", "function": function })
                })
                .collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        // The shape has no place to say that a tool failed but the text.
        Message::ToolResult { call_id, text, is_error, .. } => {
            let content = if *is_error { format!("error: {text}") } else { text.clone() };
            json!({ "role": "tool", "tool_call_id": call_id, "content": content })
        }
    }
}

fn tool(ToolDefinition { name, description, parameters }: &ToolDefinition) -> Value {
    let function = json!({ "name": name, "description": description, "parameters": parameters });
    json!({ "type": "function", "function": function })
}

/// What comes back. Servers add keys of their own, so others are let pass.
#[derive(Deserialize)]
pub(super) struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Answer,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Deserialize)]
struct ToolCall {
    id: String,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl Completion {
    /// The first choice, or what is wrong with the answer.
    pub(super) fn reply(self) -> Result<Reply, String> {
        let choice = self.choices.into_iter().next().ok_or("the answer has no choices")?;
        let calls = choice.message.tool_calls.unwrap_or_default().into_iter().map(|asked| {
            let ToolCall { id, function: Function { name, arguments } } = asked;
            let input = serde_json::from_str(&arguments)
                .map_err(|error| format!("the arguments of `{name}` are not JSON: {error}"))?;
            Ok::<_, String>(StoredToolCall { id, name, input })
        });
        let usage = self.usage.map_or_else(TokenUsage::default, |usage| TokenUsage {
            input_tokens: usage.prompt_tokens,
            output_tokens: usage.completion_tokens,
            ..TokenUsage::default()
        });
        Ok(Reply {
            text: choice.message.content.unwrap_or_default(),
            calls: calls.collect::<Result<_, _>>()?,
            usage,
            finish: match choice.finish_reason.as_deref() {
                Some("tool_calls") => FinishReason::ToolUse,
                Some("length") => FinishReason::MaxTokens,
                _ => FinishReason::EndTurn,
            },
        })
    }
}
