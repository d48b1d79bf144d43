//! When a breaker opens, and for how long.

use std::fmt;
use std::time::Duration;

use super::word::COUNT_BITS;

/// When a circuit breaker opens, and for how long.
///
/// An open breaker refuses calls of its handler at once. After [`open_for`] one call is
/// let through as a probe: if it succeeds the breaker closes, if it fails the breaker
/// opens again. Calls that come meanwhile are refused.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::operator::BreakerSettings;
///
/// // Five failures in a row.
/// let streak = BreakerSettings::consecutive(5).open_for(Duration::from_secs(30));
/// assert_eq!(streak.validate(), Ok(()));
///
/// // Half of the calls in ten seconds, if there were twenty; only watched for now.
/// let rate = BreakerSettings::rate(50).over(Duration::from_secs(10)).at_least(20).shadow();
/// assert_eq!(rate.validate(), Ok(()));
/// ```
///
/// [`open_for`]: BreakerSettings::open_for
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "settings do nothing by themselves"]
pub struct BreakerSettings {
    pub(super) limit: Limit,
    /// Given by `over`.
    pub(super) window: Option<Duration>,
    /// Given by `at_least`.
    pub(super) calls: Option<u32>,
    pub(super) open_for: Duration,
    pub(super) is_shadow: bool,
}

/// What trips a breaker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// So many failures in a row.
    Consecutive(u32),
    /// So many failures in a hundred calls.
    Percent(u8),
}

/// How long a breaker stays open unless it is said: as resilience4j and Dapr have it.
const OPEN_FOR: Duration = Duration::from_mins(1);
/// The length of a window unless it is said.
pub(super) const WINDOW: Duration = Duration::from_mins(1);
/// The calls that a window needs unless it is said.
pub(super) const CALLS: u32 = 10;

/// The longest time in settings. Stamps would hold more, but a handler that is not to be
/// called for years is better disabled.
const LONGEST: Duration = Duration::from_hours(365 * 24);
/// Shorter windows would use up their numbers within minutes.
const SHORTEST_WINDOW: Duration = Duration::from_millis(1);
/// The most calls that a window can be asked to have: when they no longer fit, both
/// counts are halved, and so many are left.
pub(crate) const MOST_CALLS: u32 = 1 << (COUNT_BITS - 1);

impl BreakerSettings {
    /// Opens after this many failures in a row. A success begins the row anew.
    ///
    /// ```
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// assert_eq!(BreakerSettings::consecutive(3).validate(), Ok(()));
    /// assert!(BreakerSettings::consecutive(0).validate().is_err());
    /// ```
    pub fn consecutive(failures: u32) -> Self {
        Self::new(Limit::Consecutive(failures))
    }

    /// Opens when, of the calls that ended in the present window, this many in a hundred
    /// failed, or more. A window is a minute and needs ten calls, unless [`over`] and
    /// [`at_least`] say otherwise.
    ///
    /// Windows follow each other without overlap. They begin with the moment in which
    /// the breaker was closed. A window of more than 65 535 calls goes on with half of
    /// its calls and half of its failures.
    ///
    /// ```
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// assert_eq!(BreakerSettings::rate(100).validate(), Ok(()));
    /// assert!(BreakerSettings::rate(101).validate().is_err());
    /// ```
    ///
    /// [`over`]: BreakerSettings::over
    /// [`at_least`]: BreakerSettings::at_least
    pub fn rate(percent: u8) -> Self {
        Self::new(Limit::Percent(percent))
    }

    fn new(limit: Limit) -> Self {
        Self { limit, window: None, calls: None, open_for: OPEN_FOR, is_shadow: false }
    }

    /// The length of a window of a [`rate`](BreakerSettings::rate): from a millisecond
    /// to 365 days, a minute by default.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// let settings = BreakerSettings::rate(50).over(Duration::from_secs(10));
    /// assert_eq!(settings.validate(), Ok(()));
    /// assert!(BreakerSettings::rate(50).over(Duration::ZERO).validate().is_err());
    /// ```
    pub fn over(mut self, window: Duration) -> Self {
        self.window = Some(window);
        self
    }

    /// How many calls must have ended in the window before a
    /// [`rate`](BreakerSettings::rate) trips: at most 32 768, ten by default.
    ///
    /// ```
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// assert_eq!(BreakerSettings::rate(50).at_least(100).validate(), Ok(()));
    /// assert!(BreakerSettings::rate(50).at_least(0).validate().is_err());
    /// ```
    pub fn at_least(mut self, calls: u32) -> Self {
        self.calls = Some(calls);
        self
    }

    /// How long the breaker stays open before a call is let through as a probe: at
    /// least, and less than two microseconds longer. A minute by default, at most 365
    /// days.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// let settings = BreakerSettings::consecutive(3).open_for(Duration::from_secs(5));
    /// assert_eq!(settings.validate(), Ok(()));
    /// let settings = BreakerSettings::consecutive(3).open_for(Duration::ZERO);
    /// assert!(settings.validate().is_err());
    /// ```
    pub fn open_for(mut self, time: Duration) -> Self {
        self.open_for = time;
        self
    }

    /// A breaker that only watches: its state changes as it would, and no call is
    /// refused. While it is open, only the results of its probes count.
    ///
    /// ```
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// let (watched, enforced) =
    ///     (BreakerSettings::consecutive(3).shadow(), BreakerSettings::consecutive(3));
    /// assert_ne!(watched, enforced);
    /// ```
    pub fn shadow(mut self) -> Self {
        self.is_shadow = true;
        self
    }

    /// Whether a breaker can have these settings. If not, what was expected and what to
    /// write instead.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hooks_runtime::operator::BreakerSettings;
    ///
    /// let settings = BreakerSettings::consecutive(3).over(Duration::from_secs(10));
    /// assert_eq!(
    ///     settings.validate().unwrap_err(),
    ///     "`over` and `at_least` belong to a rate of failures, but these settings count \
    ///      failures in a row: leave them out, or use `BreakerSettings::rate`",
    /// );
    /// ```
    pub fn validate(&self) -> Result<(), String> {
        match self.limit {
            Limit::Consecutive(0) => {
                return Err("`consecutive(0)` would open before the first failure: use \
                            `consecutive(1)` or more"
                    .to_owned());
            }
            Limit::Consecutive(_) if self.window.is_some() || self.calls.is_some() => {
                return Err("`over` and `at_least` belong to a rate of failures, but these \
                            settings count failures in a row: leave them out, or use \
                            `BreakerSettings::rate`"
                    .to_owned());
            }
            Limit::Percent(percent) if !(1..=100).contains(&percent) => {
                return Err(format!(
                    "`rate({percent})` is not a share of the calls that can fail: use a \
                     percentage from 1 to 100"
                ));
            }
            Limit::Consecutive(_) | Limit::Percent(_) => {}
        }
        if let Some(window) = self.window
            && !(SHORTEST_WINDOW..=LONGEST).contains(&window)
        {
            return Err(format!(
                "`over({window:?})` is not a window that can be counted in: use a duration \
                 from 1 millisecond to 365 days"
            ));
        }
        if let Some(calls) = self.calls
            && !(1..=MOST_CALLS).contains(&calls)
        {
            return Err(format!(
                "`at_least({calls})` is not a number of calls that can be counted: use 1 to \
                 {MOST_CALLS}"
            ));
        }
        let open_for = self.open_for;
        if open_for.is_zero() || open_for > LONGEST {
            return Err(format!(
                "`open_for({open_for:?})` is not a time that a breaker can be open for: use a \
                 duration above zero and up to 365 days"
            ));
        }
        Ok(())
    }
}

impl BreakerSettings {
    /// Whether it only counts.
    pub(crate) fn is_shadow(&self) -> bool {
        self.is_shadow
    }
}

/// When it opens and for how long, in a few words.
impl fmt::Display for BreakerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "opens for {:?} ", self.open_for)?;
        match self.limit {
            Limit::Consecutive(1) => f.write_str("after a failure")?,
            Limit::Consecutive(failures) => write!(f, "after {failures} failures in a row")?,
            Limit::Percent(percent) => {
                let (calls, window) = (self.calls.unwrap_or(CALLS), self.window.unwrap_or(WINDOW));
                write!(f, "at {percent} % failures of at least {calls} calls in {window:?}")?;
            }
        }
        if self.is_shadow { f.write_str(", only counted") } else { Ok(()) }
    }
}
