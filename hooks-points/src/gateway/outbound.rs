//! Messages that go out.

use crate::{claims::Handled, types::OutboundMessage};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before an outbound message reaches its adapter. A handler can
    /// rewrite it.
    #[payload(derive(PartialEq))]
    #[result(derive(PartialEq))]
    pub modifying MessageSending {
        /// The chat.
        chat_id: String,
        /// The message.
        message: OutboundMessage,
    } -> {
        /// The message to send instead.
        message: OutboundMessage,
    }

    /// Fires immediately before an outbound message is sent. A claim
    /// suppresses the send, as for a duplicate.
    #[payload(derive(PartialEq))]
    pub claiming BeforeDispatch {
        /// The chat.
        chat_id: String,
        /// The chat platform.
        platform: String,
        /// What is about to be sent.
        text: String,
    } -> Handled;

    /// Fires when the gateway has sent an outbound message.
    #[payload(derive(PartialEq))]
    pub void MessageSent {
        /// The chat.
        chat_id: String,
        /// The platform's id of the message.
        message_id: Option<String>,
    }
}
