//! The words for what fires and handlers come to, which a filter may ask for.

use crate::error::FailureCause;
use crate::escape::escaped;
use crate::operator::error::OperatorError;
use crate::report::{ContributionKind, HandlerStatus, SkipReason};
use crate::suggest::nearest;

/// The words for what a fire came to.
const FIRE_OUTCOMES: [&str; 13] = [
    "notified",
    "amended",
    "unchanged",
    "claimed",
    "unclaimed",
    "passed",
    "rejected",
    "ran",
    "recovered",
    "skipped",
    "aborted",
    "failed",
    "dropped",
];

/// Whether a fire, or a handler of a target, can come to that.
pub(super) fn check(word: &str, of_handlers: bool) -> Result<(), OperatorError> {
    let (what, known) = if of_handlers {
        ("handler", handler_outcomes().collect())
    } else {
        ("fire", FIRE_OUTCOMES.to_vec())
    };
    if known.contains(&word) {
        return Ok(());
    }
    let meant = match nearest(word, known.iter(), str::len) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("expected one of {}", known.join(", ")),
    };
    let problem = format!("no {what} comes to `{}`; {meant}", escaped(word));
    Err(OperatorError::BadTrace { problem })
}

/// The words for what a handler came to.
fn handler_outcomes() -> impl Iterator<Item = &'static str> {
    let own = ["ran", "filtered", "failed", "cancelled", "shadowed", "shadow_failed"];
    let decided = ContributionKind::ALL.into_iter().map(ContributionKind::as_str);
    let causes = FailureCause::ALL.into_iter().map(FailureCause::as_str);
    own.into_iter().chain(decided).chain(causes).chain(SkipReason::ALL.map(SkipReason::as_str))
}

/// Whether a handler came to that.
pub(super) fn came_to(status: &HandlerStatus, word: &str) -> bool {
    let more = match status {
        HandlerStatus::Ran(decision) | HandlerStatus::Shadowed { decision, .. } => {
            Some(decision.kind().as_str())
        }
        HandlerStatus::Filtered(reason) => Some(reason.as_str()),
        HandlerStatus::Failed { .. } => Some("failed"),
        HandlerStatus::ShadowFailed { kind, .. } => Some(*kind),
        HandlerStatus::Cancelled => None,
    };
    // Of a failure, the first is how it failed.
    status.as_str() == word || more == Some(word)
}
