//! What goes in and what comes out.

hooks_runtime::hook_points! {
    #![hook(json = "snake_case", catalogue = pub(super) fn points, timeout = "5s", on_failure = "open")]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before a user's message is processed.
    #[payload(derive(PartialEq, Eq))]
    pub gating BeforeInbound {
        /// Who wrote it.
        user_id: String,
        /// The channel it came over.
        channel: String,
        /// What was written.
        content: String,
        /// The thread it belongs to.
        thread_id: Option<String>,
    }

    /// Fires before a response is sent.
    #[payload(derive(PartialEq, Eq))]
    pub gating BeforeOutbound {
        /// Whom it is for.
        user_id: String,
        /// The channel it goes over.
        channel: String,
        /// What is about to be sent.
        content: String,
        /// The thread it belongs to.
        thread_id: Option<String>,
    }

    /// Fires when a turn has its final response, before the turn is complete.
    #[payload(derive(PartialEq, Eq))]
    pub gating TransformResponse {
        /// Whom it is for.
        user_id: String,
        /// The thread it belongs to.
        thread_id: String,
        /// The response.
        response: String,
    }
}
