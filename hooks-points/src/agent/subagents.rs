//! Agents that agents start.

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before a subagent's session starts. A handler can rewrite the
    /// prompt or pick another personality.
    #[payload(derive(PartialEq))]
    #[result(derive(PartialEq))]
    pub modifying SubagentSpawning {
        /// The session that starts the subagent.
        parent_session_id: String,
        /// What the subagent is to do.
        prompt: String,
        /// The personality it is to have.
        personality_id: Option<String>,
    } -> {
        /// The prompt to use instead.
        prompt: String,
        /// The personality to use instead.
        personality_id: String,
    }

    /// Fires after a subagent's session was started.
    #[payload(derive(PartialEq))]
    pub void SubagentSpawned {
        /// The session that started the subagent.
        parent_session_id: String,
        /// The subagent's session.
        child_session_id: String,
        /// The personality it has.
        personality_id: Option<String>,
    }

    /// Fires when a subagent's session ended.
    #[payload(derive(PartialEq))]
    pub void SubagentEnded {
        /// The session that started the subagent.
        parent_session_id: String,
        /// The subagent's session.
        child_session_id: String,
        /// What it came back with.
        result: String,
    }
}
