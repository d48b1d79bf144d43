//! An adapter of a chat platform: it claims the commands of its own platform
//! and answers them itself.

use std::fmt;

use hooks_points::{Handled, InboundClaim, InboundClaimPayload};
use hooks_runtime::hook_handlers;

/// Sends to a chat: first the chat, then the text.
type Sender = Box<dyn Fn(&str, &str) + Send + Sync>;

/// Takes over the commands of one platform.
pub struct Telegram {
    send: Sender,
}

impl Telegram {
    /// An adapter that sends with this function: first the chat, then the text.
    pub fn new(send: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        Self { send: Box::new(send) }
    }
}

#[hook_handlers(plugin = "telegram")]
impl Telegram {
    #[hook_handler(InboundClaim)]
    fn commands(&self, claim: &InboundClaimPayload) -> Option<Handled> {
        let message = &claim.message;
        if message.platform != "telegram" || message.text != "/start" {
            return None; // not ours: others may claim it, or the agent answers
        }
        (self.send)(&message.chat_id, "Welcome. Write to me as to a colleague.");
        Some(Handled)
    }
}

impl fmt::Debug for Telegram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telegram").finish_non_exhaustive()
    }
}
