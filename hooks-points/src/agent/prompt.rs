//! The system prompt.

use crate::types::StoredMessage;

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before the system prompt is put together. A handler can add to it
    /// at either end, or replace it.
    #[payload(derive(PartialEq))]
    #[result(derive(PartialEq))]
    pub modifying BeforePromptBuild {
        /// The session.
        session_id: String,
        /// The active personality.
        personality_id: Option<String>,
        /// What has been said so far.
        history: Vec<StoredMessage>,
    } -> {
        /// Goes before the system prompt.
        prepend_system: String,
        /// Goes after the system prompt.
        append_system: String,
        /// Replaces the system prompt, and both additions with it.
        override_system: String,
    }
}
