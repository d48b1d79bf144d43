//! Where messages go out.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;
use hooks_points::OutboundMessage;
use thiserror::Error;

/// A way out of the gateway: one for each platform.
pub trait Channel: fmt::Debug + Send + Sync {
    /// The platform that it serves.
    fn platform(&self) -> &str;

    /// Sends a message; returns the id that the platform gave it.
    fn send<'a>(
        &'a self,
        chat_id: &'a str,
        message: &'a OutboundMessage,
    ) -> BoxFuture<'a, Result<Option<String>, ChannelError>>;
}

/// A message could not be sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("nothing can be sent over `{platform}`: {problem}")]
pub struct ChannelError {
    /// The platform.
    pub platform: String,
    /// What went wrong.
    pub problem: String,
}

/// A channel that ends in this program: it keeps what is sent.
#[derive(Debug)]
pub struct LocalChannel {
    platform: String,
    sent: Mutex<Vec<(String, OutboundMessage)>>,
}

impl LocalChannel {
    /// A channel of that platform.
    pub fn new(platform: &str) -> Self {
        Self { platform: platform.to_owned(), sent: Mutex::default() }
    }

    /// What was sent, with the chat it was sent to.
    pub fn sent(&self) -> Vec<(String, OutboundMessage)> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends a message at once; returns its id.
    pub fn push(&self, chat_id: &str, message: OutboundMessage) -> String {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push((chat_id.to_owned(), message));
        format!("{}-{}", self.platform, sent.len())
    }
}

impl Channel for LocalChannel {
    fn platform(&self) -> &str {
        &self.platform
    }

    fn send<'a>(
        &'a self,
        chat_id: &'a str,
        message: &'a OutboundMessage,
    ) -> BoxFuture<'a, Result<Option<String>, ChannelError>> {
        Box::pin(async move { Ok(Some(self.push(chat_id, message.clone()))) })
    }
}
