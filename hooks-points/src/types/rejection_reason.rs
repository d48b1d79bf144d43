//! Why something was turned down.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why something was turned down. Never empty.
///
/// A rejection is distinguished from its absence by the reason being there. An empty one
/// would be taken for a decision by the merge, which keeps the first value, and
/// for no rejection by a host that looks at the text: the next handler's real
/// objection would be lost between the two. So an empty reason, or one of
/// nothing but white space, cannot be made, neither in Rust nor from JSON.
///
/// ```
/// use hooks_points::RejectionReason;
///
/// let reason = RejectionReason::new("`rm -rf` is not allowed here")?;
/// assert_eq!(reason.as_str(), "`rm -rf` is not allowed here");
/// assert!(RejectionReason::new(" \n").is_err());
/// assert!(serde_json::from_str::<RejectionReason>("\"\"").is_err());
/// # Ok::<(), hooks_points::EmptyReason>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "\\S")))]
#[serde(try_from = "String")]
pub struct RejectionReason(String);

/// A rejection was given no reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a rejection needs a reason: the text is empty or only white space")]
pub struct EmptyReason;

impl RejectionReason {
    /// A reason of this text, unless there is nothing in it to read.
    pub fn new(reason: impl Into<String>) -> Result<Self, EmptyReason> {
        let reason = reason.into();
        if reason.trim().is_empty() { Err(EmptyReason) } else { Ok(Self(reason)) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RejectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for RejectionReason {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RejectionReason {
    type Error = EmptyReason;

    fn try_from(reason: String) -> Result<Self, EmptyReason> {
        Self::new(reason)
    }
}

impl TryFrom<&str> for RejectionReason {
    type Error = EmptyReason;

    fn try_from(reason: &str) -> Result<Self, EmptyReason> {
        Self::new(reason)
    }
}

impl From<RejectionReason> for String {
    fn from(reason: RejectionReason) -> Self {
        reason.0
    }
}
