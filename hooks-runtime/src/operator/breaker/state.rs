//! The states of a breaker, and the ways between them.

use std::fmt;

/// Whether a circuit breaker lets calls through.
///
/// ```
/// use hooks_runtime::operator::BreakerState;
///
/// assert_eq!(BreakerState::HalfOpen.as_str(), "half_open");
/// assert_eq!(BreakerState::HalfOpen.to_string(), "half-open");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
pub enum BreakerState {
    /// Calls go through, and failures are counted.
    Closed,
    /// Calls are refused.
    Open,
    /// The time of refusal has passed. One call is let through, and what comes of it
    /// closes the breaker or opens it again; the others are refused.
    HalfOpen,
}

impl BreakerState {
    /// One word for logs and counters: `closed`, `open` or `half_open`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
        }
    }
}

impl fmt::Display for BreakerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        })
    }
}

/// A change of a circuit breaker's state.
///
/// ```
/// use hooks_runtime::operator::{BreakerState, Transition};
///
/// /// Whether a handler is worse than it was.
/// fn is_alarming(transition: Transition) -> bool {
///     transition.to == BreakerState::Open
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Transition {
    /// The state before.
    pub from: BreakerState,
    /// The state after.
    pub to: BreakerState,
}

/// As `closed to open`.
impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.from, self.to)
    }
}

/// How often a breaker came to each state. Not in one moment: a transition that happens
/// meanwhile may be in one number and not in another.
///
/// The example of [`breaker`](crate::operator::Operator::breaker) has a breaker that opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TransitionCounts {
    /// To open, from closed or half-open.
    pub opened: u64,
    /// To half-open.
    pub half_opened: u64,
    /// To closed, by a probe or by a reset.
    pub closed: u64,
}
