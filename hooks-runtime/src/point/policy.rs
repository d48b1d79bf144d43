//! What a handler's failure means for the fire.

use std::fmt;

/// What a handler's failure means for the fire.
///
/// A point declares its policy; a handler may only tighten it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum FailurePolicy {
    /// The failure is reported and the fire goes on as if the handler had not
    /// been there.
    Open,
    /// The fire ends with the failure as its error. Void points run all
    /// handlers first; the sequential models stop at once.
    Closed,
}

impl fmt::Display for FailurePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "fail-open",
            Self::Closed => "fail-closed",
        })
    }
}
