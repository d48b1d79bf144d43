//! The claim that turns a completion down.

use serde::{Deserialize, Serialize};

use crate::types::{EmptyReason, RejectionReason};

/// A claim that turns down a ticket or a goal its assignee calls complete.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompletionRejected {
    /// What is still wanting, for the assignee to read.
    pub reason: RejectionReason,
}

impl CompletionRejected {
    /// Turns the completion down for this reason, unless the reason is empty.
    pub fn new(reason: impl Into<String>) -> Result<Self, EmptyReason> {
        RejectionReason::new(reason).map(Self::from)
    }
}

impl From<RejectionReason> for CompletionRejected {
    fn from(reason: RejectionReason) -> Self {
        Self { reason }
    }
}
