//! Goals, which an agent works towards over many attempts.

use crate::{
    claims::CompletionRejected,
    types::{AcceptanceSpec, GoalVerdict},
};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires when the agent calls a goal reached, before it counts as
    /// complete. A claim turns the completion down and the work goes on.
    #[payload(derive(PartialEq))]
    pub claiming BeforeGoalComplete {
        /// The goal.
        goal_id: String,
        /// What the agent says was done.
        summary: String,
        /// What it produced, as Markdown.
        output_md: String,
        /// What the goal asks for.
        acceptance_criteria: Option<AcceptanceSpec>,
    } -> CompletionRejected;

    /// Fires after a goal was reached.
    #[payload(derive(PartialEq))]
    pub void GoalCompleted {
        /// The goal.
        goal_id: String,
        /// Its title.
        title: String,
        /// What was done.
        summary: String,
        /// What was produced, as Markdown.
        output_md: String,
        /// Where the goal came from, such as `web` or `cli`.
        origin: String,
        /// The personality that worked on it.
        personality_id: String,
        /// What it cost, in US dollars.
        cost_usd: Option<f64>,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    }

    /// Fires after the work on a goal broke off with an error.
    #[payload(derive(PartialEq))]
    pub void GoalFailed {
        /// The goal.
        goal_id: String,
        /// Its title.
        title: String,
        /// The error.
        error_text: Option<String>,
        /// What had been produced by then.
        output_partial: Option<String>,
        /// Where the goal came from, such as `web` or `cli`.
        origin: String,
        /// The personality that worked on it.
        personality_id: String,
    }

    /// Fires after a goal's attempts were used up without reaching it.
    #[payload(derive(PartialEq))]
    pub void GoalExhausted {
        /// The goal.
        goal_id: String,
        /// Its title.
        title: String,
        /// What the best attempt produced.
        best_attempt_output: Option<String>,
        /// How that attempt was judged.
        verdict: Option<GoalVerdict>,
        /// Where the goal came from, such as `web` or `cli`.
        origin: String,
        /// The personality that worked on it.
        personality_id: String,
    }

    /// Fires when the work on a goal waits for an answer from a person.
    #[payload(derive(PartialEq))]
    pub void GoalNeedsClarification {
        /// The goal.
        goal_id: String,
        /// What has to be cleared up.
        reason: String,
    }
}
