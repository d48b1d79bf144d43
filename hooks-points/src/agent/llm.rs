//! Round trips to the model.

use crate::types::{FinishReason, ModelMessage, TokenUsage, ToolDefinition};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires immediately before each model round trip.
    #[payload(derive(PartialEq))]
    pub void BeforeLlmCall {
        /// The session.
        session_id: String,
        /// The model.
        model: String,
        /// Which turn of the session it is.
        turn_number: u64,
        /// The system prompt.
        system: Option<String>,
        /// The tools on offer.
        tools: Option<Vec<ToolDefinition>>,
        /// The conversation, as the model is sent it.
        messages: Option<Vec<ModelMessage>>,
        /// Ties the round trip to its [`AfterLlmCall`].
        request_id: Option<String>,
    }

    /// Fires after each model round trip.
    #[payload(derive(PartialEq))]
    pub void AfterLlmCall {
        /// The session.
        session_id: String,
        /// What the model wrote.
        text: String,
        /// What it used.
        usage: TokenUsage,
        /// Ties the round trip to its [`BeforeLlmCall`].
        request_id: Option<String>,
        /// Why the model stopped.
        finish_reason: Option<FinishReason>,
        /// How long it took, in milliseconds.
        duration_ms: Option<u64>,
    }
}
