//! Reports as data for other programs. [`FireReport`](super::FireReport) shows
//! the shape.

use serde::{Serialize, Serializer};

use super::{Contribution, HandlerStatus};
use crate::observe::notes::Note;
use crate::wire::{Tagged, tagged};

/// The notes of a row, as an object.
pub(super) fn notes<S: Serializer>(notes: &[Note], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(notes.iter().map(|(key, value)| (key, value)))
}

impl Serialize for HandlerStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ran(contribution) => {
                tagged(serializer, "ran")?.with("contribution", contribution)?.end()
            }
            Self::Filtered(reason) => tagged(serializer, "filtered")?.with("by", reason)?.end(),
            Self::Failed { kind, message, policy } => tagged(serializer, "failed")?
                .with("failure", kind)?
                .with("message", message)?
                .with("policy", policy)?
                .end(),
            Self::Cancelled => tagged(serializer, "cancelled")?.end(),
            Self::Shadowed { decision, warns } => tagged(serializer, "shadowed")?
                .with("decision", decision)?
                .with("warns", warns)?
                .end(),
            Self::ShadowFailed { kind, message } => tagged(serializer, "shadow_failed")?
                .with("failure", kind)?
                .with("message", message)?
                .end(),
        }
    }
}

impl Serialize for Contribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let alone = |serializer, kind| tagged(serializer, kind).and_then(Tagged::end);
        match self {
            Self::Nothing => alone(serializer, "nothing"),
            Self::Fields(fields) => tagged(serializer, "fields")?.with("fields", fields)?.end(),
            Self::Claimed => alone(serializer, "claimed"),
            Self::Passed => alone(serializer, "passed"),
            Self::Replaced => alone(serializer, "replaced"),
            Self::Rejected(reason) => tagged(serializer, "rejected")?.with("reason", reason)?.end(),
            Self::Answered => alone(serializer, "answered"),
            Self::AnswerRefused(refusal) => {
                tagged(serializer, "answer_refused")?.with("by", refusal)?.end()
            }
            Self::Recovered => alone(serializer, "recovered"),
            Self::RecoveryRefused(refusal) => {
                tagged(serializer, "recovery_refused")?.with("by", refusal)?.end()
            }
            Self::Skipped => alone(serializer, "skipped"),
            Self::Aborted(reason) => tagged(serializer, "aborted")?.with("reason", reason)?.end(),
        }
    }
}
