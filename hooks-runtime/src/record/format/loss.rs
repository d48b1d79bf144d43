//! The lines that say what is not in a recording, and where it ends.

use serde::{Deserialize, Serialize};

/// Fires that happened before this line, and since the one before, were not recorded.
///
/// The example of [`Line`](crate::record::Line) reads one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DroppedLine {
    /// How many fires.
    pub fires: u64,
    /// How many lines they would have been.
    pub lines: u64,
    /// Why.
    pub why: LossReason,
}

/// Why something was not recorded.
///
/// ```
/// use hooks_runtime::record::LossReason;
///
/// assert_ne!(LossReason::QueueFull, LossReason::Io { problem: "disk full".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossReason {
    /// The queue to the writer was full.
    QueueFull,
    /// It could not be written.
    Io {
        /// What the system said first.
        problem: String,
    },
}

/// The recording was ended in order: all that it was given is in it, but for what it says
/// was dropped.
///
/// The example of [`LineKind::as_str`](crate::record::LineKind::as_str) has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EndLine {
    /// How many lines of the run were written before this one, in all files.
    pub lines: u64,
    /// How many fires are among them.
    pub fires: u64,
    /// How many fires were dropped.
    pub dropped: u64,
}
