//! Turns down tickets and goals that do not meet what was asked for.

use hooks_points::{
    AutonomyTier, BeforeGoalComplete, BeforeGoalCompletePayload, BeforeTicketComplete,
    BeforeTicketCompletePayload, CompletionRejected, EmptyReason,
};
use hooks_runtime::hook_handler;

/// The summary has to speak of what the ticket asked for. Those who are trusted
/// are not checked.
#[hook_handler(BeforeTicketComplete, plugin = "verifier", pure)]
pub fn ticket(
    ticket: &BeforeTicketCompletePayload,
) -> Result<Option<CompletionRejected>, EmptyReason> {
    if ticket.autonomy_tier == Some(AutonomyTier::Trusted) {
        return Ok(None);
    }
    let wanted = ticket.acceptance_criteria.as_deref();
    let missing = wanted.filter(|wanted| !ticket.summary.contains(wanted));
    missing
        .map(|missing| CompletionRejected::new(format!("the summary lacks \"{missing}\"")))
        .transpose()
}

/// Every check that a machine can settle has to hold.
#[hook_handler(BeforeGoalComplete, plugin = "verifier", pure)]
pub fn goal(goal: &BeforeGoalCompletePayload) -> Result<Option<CompletionRejected>, EmptyReason> {
    let checks = goal.acceptance_criteria.iter().flat_map(|spec| &spec.checks);
    let failed = checks
        .filter_map(|check| Some((check, check.command.as_deref()?)))
        .find(|(_, pattern)| !goal.output_md.contains(pattern));
    failed.map(|(check, _)| CompletionRejected::new(check.description.as_str())).transpose()
}
