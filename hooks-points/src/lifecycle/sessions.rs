//! The life of a session.

use uuid::Uuid;

hooks_runtime::hook_points! {
    #![hook(json = "snake_case", catalogue = pub(super) fn points, timeout = "5s", on_failure = "open")]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires when a session was created.
    #[payload(derive(PartialEq, Eq))]
    pub gating OnSessionStart {
        /// Whose session it is.
        user_id: String,
        /// The session.
        session_id: String,
    }

    /// Fires when a session was ended, because it expired or was pruned.
    #[payload(derive(PartialEq, Eq))]
    pub gating OnSessionEnd {
        /// Whose session it was.
        user_id: String,
        /// The session.
        session_id: String,
        /// The conversations that belonged to it.
        #[serde(default)]
        thread_ids: Vec<Uuid>,
    }
}
