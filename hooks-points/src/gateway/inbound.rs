//! Messages that come in.

use crate::{
    claims::{GatewayReply, Handled},
    types::InboundMessage,
};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires when the gateway has accepted an inbound message.
    #[payload(derive(PartialEq))]
    pub void MessageReceived {
        /// The message.
        message: InboundMessage,
        /// The session it belongs to, where that is known already.
        session_id: Option<String>,
    }

    /// Fires when the gateway looks for the owner of an inbound message. The
    /// adapter that claims it takes care of it.
    #[payload(derive(PartialEq))]
    pub claiming InboundClaim {
        /// The message.
        message: InboundMessage,
    } -> Handled;

    /// Fires when the gateway knows which bot and chat an inbound message is
    /// for, before a turn of the agent is begun. A claim answers it without one.
    #[payload(derive(PartialEq))]
    pub claiming GatewayMessage {
        /// The chat platform.
        platform: String,
        /// The chat.
        chat_id: String,
        /// The bot, where a platform has several.
        bot_key: Option<String>,
        /// Who wrote it.
        user_id: Option<String>,
        /// What was written. Untrusted: anyone can write to a chat.
        text: String,
        /// Whether the chat is between two.
        is_dm: bool,
    } -> GatewayReply;
}
