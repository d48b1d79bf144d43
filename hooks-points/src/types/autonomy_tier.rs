//! How far an assignee is trusted.

use serde::{Deserialize, Serialize};

/// How far the assignee of a ticket is trusted to work alone, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AutonomyTier {
    /// On trial: check everything.
    Probationary,
    /// The usual amount of checking.
    Standard,
    /// Has earned light checking.
    Trusted,
}
