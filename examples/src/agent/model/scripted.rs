//! A model that follows a script: no network, and the same words every time.

use futures::future::BoxFuture;
use hooks_points::{FinishReason, StoredToolCall, TokenUsage};
use serde_json::Value;

use super::{Model, ModelError, Reply, Request};
use crate::agent::Message;

/// A model that follows a script.
///
/// What the person said last picks the scene; how often the model has spoken
/// since then picks the step. In a text, `{c1}` stands for the result of the
/// call `c1` and `{system}` for the first line of the system prompt, so what
/// plugins changed can be seen in what the model says.
#[derive(Debug, Default)]
pub struct ScriptedModel {
    scenes: Vec<(String, Vec<Step>)>,
}

/// What the model does when it is its turn.
#[derive(Clone, Debug)]
pub enum Step {
    /// Asks for tools.
    Ask(&'static str, Vec<StoredToolCall>),
    /// Says its last words.
    Say(&'static str),
    /// Does not answer.
    Fail(&'static str),
}

/// A call in a script.
pub fn call(id: &str, tool: &str, args: Value) -> StoredToolCall {
    StoredToolCall { id: id.to_owned(), name: tool.to_owned(), input: args }
}

impl ScriptedModel {
    /// What to do when the person says this.
    #[must_use]
    pub fn when(mut self, heard: &str, steps: impl Into<Vec<Step>>) -> Self {
        self.scenes.push((heard.to_owned(), steps.into()));
        self
    }

    fn step(&self, messages: &[Message]) -> Option<&Step> {
        let last = messages.iter().rposition(|message| matches!(message, Message::User(_)))?;
        let Message::User(heard) = &messages[last] else { return None };
        let (_, steps) = self.scenes.iter().find(|(scene, _)| scene == heard)?;
        let since = messages[last..].iter();
        steps.get(since.filter(|message| matches!(message, Message::Assistant { .. })).count())
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let (text, calls) = match self.step(&request.messages) {
                Some(Step::Ask(text, calls)) => (*text, calls.clone()),
                Some(Step::Say(text)) => (*text, Vec::new()),
                Some(Step::Fail(problem)) => return Err(ModelError((*problem).to_owned())),
                None => ("The script has no answer to that.", Vec::new()),
            };
            let text = filled(text, request);
            let heard = request.messages.iter().map(length).sum::<u64>() + words(&request.system);
            let usage = TokenUsage {
                input_tokens: heard,
                output_tokens: words(&text),
                ..TokenUsage::default()
            };
            let finish =
                if calls.is_empty() { FinishReason::EndTurn } else { FinishReason::ToolUse };
            Ok(Reply { text, calls, usage, finish })
        })
    }
}

/// The text with its placeholders filled in.
fn filled(text: &str, request: &Request) -> String {
    let system = request.system.lines().next().unwrap_or_default();
    let mut text = text.replace("{system}", system);
    for message in &request.messages {
        if let Message::ToolResult { call_id, text: result, .. } = message {
            let result = result.trim_end().replace('\n', ", ");
            text = text.replace(&format!("{{{call_id}}}"), &result);
        }
    }
    text
}

fn length(message: &Message) -> u64 {
    match message {
        Message::User(text)
        | Message::Assistant { text, .. }
        | Message::ToolResult { text, .. } => words(text),
    }
}

/// A word is a token to this model.
fn words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}
