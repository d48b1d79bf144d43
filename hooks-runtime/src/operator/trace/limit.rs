//! How much a trace may see, and how it ends.

use std::fmt;
use std::time::Duration;

/// How many fires a trace may see. There is no trace without a limit.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::operator::TraceLimit;
///
/// assert_eq!(TraceLimit::count(100).to_string(), "100 fires");
/// let second = Duration::from_secs(1);
/// assert_eq!(TraceLimit::rate(50, second).to_string(), "until there are more than 50 fires in 1s");
/// assert_eq!(TraceLimit::throttle(50, second).to_string(), "at most 50 fires in 1s");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceLimit {
    /// It ends after so many fires.
    Count(u64),
    /// It ends when more than so many fires come in such a time.
    Rate {
        /// How many.
        fires: u32,
        /// The time.
        per: Duration,
    },
    /// It sees at most so many fires in such a time, and passes over the others. It ends
    /// by its time or when it is dropped.
    Throttle {
        /// How many.
        fires: u32,
        /// The time.
        per: Duration,
    },
}

impl TraceLimit {
    /// Ends after so many fires; those that a full buffer drops count too.
    pub fn count(fires: u64) -> Self {
        Self::Count(fires)
    }

    /// Ends when more than so many fires come in such a time: the trace of a point that
    /// is busier than was thought stops by itself.
    pub fn rate(fires: u32, per: Duration) -> Self {
        Self::Rate { fires, per }
    }

    /// Sees at most so many fires in such a time; the others are passed over, and
    /// [counted](crate::operator::Trace::passed_over).
    pub fn throttle(fires: u32, per: Duration) -> Self {
        Self::Throttle { fires, per }
    }

    /// What is wrong with it.
    pub(super) fn problem(self) -> Option<&'static str> {
        match self {
            Self::Count(0) | Self::Rate { fires: 0, .. } | Self::Throttle { fires: 0, .. } => {
                Some("a limit of 0 fires would show nothing; use 1 or more")
            }
            Self::Rate { per, .. } | Self::Throttle { per, .. } if per.is_zero() => {
                Some("fires are counted in a time above zero, such as a second")
            }
            _ => None,
        }
    }
}

impl fmt::Display for TraceLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(1) => f.write_str("1 fire"),
            Self::Count(fires) => write!(f, "{fires} fires"),
            Self::Rate { fires, per } => {
                write!(f, "until there are more than {fires} fires in {per:?}")
            }
            Self::Throttle { fires, per } => write!(f, "at most {fires} fires in {per:?}"),
        }
    }
}

/// How a trace ended.
///
/// The example of [`Operator::trace`](crate::operator::Operator::trace) has an end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TraceEnd {
    /// It has seen as many fires as it may.
    Limit,
    /// More fires came in a time than its rate allows.
    Rate,
    /// Its time has passed.
    Time,
    /// It was dropped.
    Dropped,
    /// Code of its filter panicked, with this message.
    Panicked(String),
    /// The registry is gone.
    RegistryDropped,
}

/// In a few words.
impl fmt::Display for TraceEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => f.write_str("its limit is reached"),
            Self::Rate => f.write_str("more fires came than its rate allows"),
            Self::Time => f.write_str("its time has passed"),
            Self::Dropped => f.write_str("it was dropped"),
            Self::Panicked(message) => {
                write!(f, "its filter panicked: {}", crate::escape::escaped(message))
            }
            Self::RegistryDropped => f.write_str("the registry is gone"),
        }
    }
}
