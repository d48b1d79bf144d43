//! The life of a session.

use crate::types::Personality;

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires on the first turn of a session, before any model call.
    #[payload(derive(PartialEq))]
    pub void SessionStart {
        /// The session.
        session_id: String,
        /// The key by which the host finds the session again.
        session_key: String,
        /// The platform the session is on.
        platform: String,
        /// The active personality.
        personality_id: Option<String>,
    }

    /// Fires at the end of each turn, when nothing more will come of it.
    #[payload(derive(PartialEq))]
    pub void AgentDone {
        /// The session.
        session_id: String,
        /// The agent's final words.
        text: String,
        /// How many turns the session has had.
        turn_count: u64,
        /// The active personality.
        personality_id: Option<String>,
        /// How many of the turn's tool calls succeeded.
        successful_tool_calls: Option<u64>,
        /// How many tool calls the turn made.
        total_tool_calls: Option<u64>,
        /// The tools it used.
        tool_names: Option<Vec<String>>,
        /// The message that began the turn.
        initial_prompt: Option<String>,
    }

    /// Fires after a session was switched to another personality. A handler
    /// can put a different one in its place.
    #[payload(derive(PartialEq))]
    #[result(derive(PartialEq))]
    pub modifying PersonalitySwitched {
        /// The session.
        session_id: String,
        /// The personality it had.
        from: Option<String>,
        /// The personality it has now.
        to: String,
    } -> {
        /// The personality to use instead.
        personality: Personality,
    }
}
