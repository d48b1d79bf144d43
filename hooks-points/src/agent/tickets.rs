//! Tickets on a board.

use crate::{claims::CompletionRejected, types::AutonomyTier};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires when the assignee calls a ticket complete, before it moves to
    /// done. A claim turns the completion down: the ticket then needs revision.
    #[payload(derive(PartialEq))]
    pub claiming BeforeTicketComplete {
        /// The ticket.
        task_id: String,
        /// What the assignee says was done.
        summary: String,
        /// What the ticket asked for.
        acceptance_criteria: Option<String>,
        /// How far the assignee is trusted.
        autonomy_tier: Option<AutonomyTier>,
    } -> CompletionRejected;

    /// Fires after a completion was turned down and the ticket moved to needs
    /// revision.
    #[payload(derive(PartialEq))]
    pub void AfterTicketRevision {
        /// The ticket.
        task_id: String,
        /// What the assignee said was done.
        summary: String,
        /// What the ticket asked for.
        acceptance_criteria: Option<String>,
        /// Why the completion was turned down.
        reason: String,
        /// Whose turn it is.
        assignee: String,
        /// How far the assignee is trusted.
        autonomy_tier: Option<AutonomyTier>,
        /// The share of the assignee's completions that were accepted.
        success_ratio: Option<f64>,
    }
}
