//! The model that answers.

mod chat_completions;
mod chat_wire;
mod scripted;

use std::fmt;

use futures::future::BoxFuture;
use hooks_points::{FinishReason, StoredToolCall, TokenUsage, ToolDefinition};
use thiserror::Error;

use super::Message;

pub use chat_completions::ChatCompletions;
pub use scripted::{ScriptedModel, Step, call};

/// Something that carries a conversation on.
pub trait Model: fmt::Debug + Send + Sync {
    /// Its name, for logs and plugins.
    fn name(&self) -> &str;

    /// The next message of the conversation.
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ModelError>>;
}

/// The request to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt, as the plugins left it.
    pub system: String,
    /// The tools on offer.
    pub tools: Vec<ToolDefinition>,
    /// The conversation.
    pub messages: Vec<Message>,
}

/// The answer of a model.
#[derive(Clone, Debug)]
pub struct Reply {
    /// What it writes.
    pub text: String,
    /// The calls it asks for.
    pub calls: Vec<StoredToolCall>,
    /// What the round trip used.
    pub usage: TokenUsage,
    /// Why it stopped.
    pub finish: FinishReason,
}

/// A model that did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the model did not answer: {0}")]
pub struct ModelError(pub String);
