//! Rate limits: a handler is called so often and no more.
//!
//! The algorithm is GCRA, the generic cell rate algorithm: a bucket that leaks at a
//! constant rate, kept as one time. `arrival` is the theoretical arrival time, at which
//! the next call would come if all calls so far had been evenly spaced. A call may be
//! early by as much as the burst allows; each call moves the time on by one interval.
//!
//! One compare-and-swap decides: it is the admission, and of all callers that saw the
//! same time one succeeds. All orderings are relaxed, because the swap finds the latest
//! value with any ordering. The time never goes back. So a caller that is refused by an
//! old value would be refused by the latest one, and a refusal needs no swap.
//!
//! Over any interval at most `burst + elapsed / interval` calls are admitted. The
//! interval is rounded up to nanoseconds, so this is never more than was asked. A caller
//! whose clock is behind is refused more often, and does not move the time back.
//!
//! Why not the crate `governor`: it brings its own clock, or a trait for one, where this
//! crate hands each caller's time in, and the whole algorithm is forty lines.

use std::fmt;
use std::time::{Duration, Instant};

use crate::sync::atomic::{AtomicU64, Ordering};

/// How often a handler may be called.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::operator::RateLimit;
///
/// // A hundred a second, evenly spaced but for five at once.
/// let limit = RateLimit::per_second(100).burst(5);
/// assert_eq!(limit.validate(), Ok(()));
///
/// // Ten a minute.
/// let limit = RateLimit::new(10, Duration::from_mins(1));
/// assert_eq!(limit.validate(), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a limit does nothing by itself"]
pub struct RateLimit {
    calls: u32,
    per: Duration,
    /// Given by `burst`.
    burst: Option<u32>,
}

/// The longest time in settings.
const LONGEST: Duration = Duration::from_hours(365 * 24);

impl RateLimit {
    /// This many calls a second.
    ///
    /// ```
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// assert_eq!(RateLimit::per_second(100).validate(), Ok(()));
    /// assert!(RateLimit::per_second(0).validate().is_err());
    /// ```
    pub fn per_second(calls: u32) -> Self {
        Self::new(calls, Duration::from_secs(1))
    }

    /// This many calls in such a time: at most one a nanosecond, and in at most 365 days.
    ///
    /// ```
    /// use std::time::Duration;
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// assert_eq!(RateLimit::new(1, Duration::from_millis(250)).validate(), Ok(()));
    /// assert!(RateLimit::new(1, Duration::ZERO).validate().is_err());
    /// ```
    pub fn new(calls: u32, per: Duration) -> Self {
        Self { calls, per, burst: None }
    }

    /// How many calls may come at once after a pause: by default as many as the limit
    /// has calls. One means that calls are evenly spaced.
    ///
    /// Over any time at most so many calls are admitted, and those that the rate adds in
    /// this time.
    ///
    /// ```
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// assert_eq!(RateLimit::per_second(100).burst(1).validate(), Ok(()));
    /// assert!(RateLimit::per_second(100).burst(0).validate().is_err());
    /// ```
    pub fn burst(mut self, calls: u32) -> Self {
        self.burst = Some(calls);
        self
    }

    /// Whether this is a limit that can be kept. If not, what was expected and what to
    /// write instead.
    ///
    /// ```
    /// use hooks_runtime::operator::RateLimit;
    ///
    /// assert_eq!(
    ///     RateLimit::per_second(5).burst(0).validate().unwrap_err(),
    ///     "`burst(0)` would refuse every call: use `burst(1)` or more, or leave it out",
    /// );
    /// ```
    pub fn validate(&self) -> Result<(), String> {
        let (calls, per) = (self.calls, self.per);
        if calls == 0 {
            return Err("a limit of 0 calls would refuse every call: use 1 or more, or \
                        disable the handler"
                .to_owned());
        }
        if per.is_zero() || per > LONGEST {
            return Err(format!(
                "{per:?} is not a time that calls can be limited in: use a duration above \
                 zero and up to 365 days"
            ));
        }
        if u128::from(calls) > per.as_nanos() {
            return Err(format!(
                "{calls} calls in {per:?} are more than one a nanosecond: use fewer calls, or \
                 set no limit"
            ));
        }
        match self.burst {
            Some(0) => {
                Err("`burst(0)` would refuse every call: use `burst(1)` or more, or leave it out"
                    .to_owned())
            }
            Some(burst) if u128::from(burst) * u128::from(self.interval()) > LONGEST.as_nanos() => {
                Err(format!(
                    "`burst({burst})` takes more than 365 days to fill again at {calls} calls \
                     in {per:?}: use a smaller burst or a higher rate"
                ))
            }
            _ => Ok(()),
        }
    }

    /// The nanoseconds between calls that are evenly spaced.
    fn interval(&self) -> u64 {
        let nanos = self.per.as_nanos().div_ceil(u128::from(self.calls.max(1)));
        u64::try_from(nanos).unwrap_or(u64::MAX)
    }
}

/// As `5 in 1s, at most 2 at once`.
impl fmt::Display for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {:?}", self.calls, self.per)?;
        match self.burst {
            Some(burst) => write!(f, ", at most {burst} at once"),
            None => Ok(()),
        }
    }
}

/// Admits calls as often as a [`RateLimit`] says.
#[derive(Debug)]
pub(crate) struct RateLimiter {
    base: Instant,
    /// The nanoseconds between calls that are evenly spaced.
    interval: u64,
    /// By how many nanoseconds a call may be early.
    tolerance: u64,
    /// The theoretical arrival time of the next call, in nanoseconds since `base`.
    arrival: AtomicU64,
}

impl RateLimiter {
    /// Admits a whole burst at first. The limit is valid.
    pub(crate) fn new(limit: &RateLimit, now: Instant) -> Self {
        debug_assert_eq!(limit.validate(), Ok(()));
        let interval = limit.interval();
        let others = u64::from(limit.burst.unwrap_or(limit.calls).saturating_sub(1));
        let tolerance = interval.saturating_mul(others);
        Self { base: now, interval, tolerance, arrival: AtomicU64::new(0) }
    }

    /// Admits a call, or says how long it is until one can be admitted.
    pub(crate) fn take(&self, now: Instant) -> Result<(), Duration> {
        let now = now.saturating_duration_since(self.base).as_nanos();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let mut arrival = self.arrival.load(Ordering::Relaxed);
        loop {
            let earliest = arrival.saturating_sub(self.tolerance);
            if now < earliest {
                return Err(Duration::from_nanos(earliest - now));
            }
            let next = arrival.max(now).saturating_add(self.interval);
            let relaxed = Ordering::Relaxed;
            match self.arrival.compare_exchange_weak(arrival, next, relaxed, relaxed) {
                Ok(_) => return Ok(()),
                Err(other) => arrival = other,
            }
        }
    }
}

// Not under the model checkers, which include this file: these tests have no threads.
#[cfg(all(test, not(schedules)))]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Ten milliseconds between calls.
    fn limit(burst: u32) -> RateLimit {
        RateLimit::per_second(100).burst(burst)
    }

    #[test]
    fn calls_are_evenly_spaced_after_the_burst() {
        let start = Instant::now();
        let limiter = RateLimiter::new(&limit(2), start);
        assert_eq!(limiter.take(start), Ok(()));
        assert_eq!(limiter.take(start), Ok(()));
        assert_eq!(limiter.take(start), Err(10 * MS));
        assert_eq!(limiter.take(start + 4 * MS), Err(6 * MS));
        assert_eq!(limiter.take(start + 10 * MS), Ok(()));
        assert_eq!(limiter.take(start + 10 * MS), Err(10 * MS));
        let just_before = start + Duration::from_nanos(19_999_999);
        assert_eq!(limiter.take(just_before), Err(Duration::from_nanos(1)));
        assert_eq!(limiter.take(start + 20 * MS), Ok(()));
    }

    #[test]
    fn a_pause_fills_the_burst_and_no_more() {
        let start = Instant::now();
        let limiter = RateLimiter::new(&limit(3), start);
        for later in [start, start + Duration::from_mins(1)] {
            assert_eq!([(); 3].map(|()| limiter.take(later)), [Ok(()); 3]);
            assert_eq!(limiter.take(later), Err(10 * MS));
        }
    }

    #[test]
    fn the_burst_is_the_number_of_calls_unless_it_is_said() {
        let start = Instant::now();
        let limiter = RateLimiter::new(&RateLimit::new(4, 40 * MS), start);
        assert_eq!([(); 4].map(|()| limiter.take(start)), [Ok(()); 4]);
        assert_eq!(limiter.take(start), Err(10 * MS));
    }

    #[test]
    fn an_interval_that_is_no_whole_number_is_rounded_up() {
        let start = Instant::now();
        let limiter = RateLimiter::new(&RateLimit::per_second(3).burst(1), start);
        assert_eq!(limiter.take(start), Ok(()));
        assert_eq!(limiter.take(start), Err(Duration::from_nanos(333_333_334)));
    }

    #[test]
    fn a_clock_that_is_behind_admits_no_more() {
        let start = Instant::now() + Duration::from_secs(1);
        let limiter = RateLimiter::new(&limit(2), start);
        let before = start.checked_sub(5 * MS).unwrap();
        assert_eq!(limiter.take(before), Ok(()), "as if it were made at that moment");
        let later = start + 100 * MS;
        assert_eq!(limiter.take(later), Ok(()));
        assert_eq!(limiter.take(start + 90 * MS), Err(10 * MS));
        assert_eq!(limiter.take(start), Err(100 * MS));
        assert_eq!(limiter.take(later), Ok(()));
        assert_eq!(limiter.take(later), Err(10 * MS));
    }

    #[test]
    fn limits_that_cannot_be_kept_say_what_to_write() {
        let day = Duration::from_hours(24);
        let good = [
            RateLimit::per_second(1),
            RateLimit::per_second(1_000_000_000),
            RateLimit::new(u32::MAX, 365 * day).burst(1),
            RateLimit::new(7, 365 * day).burst(6),
            RateLimit::new(1, Duration::from_nanos(1)),
            RateLimit::new(1, 365 * day),
        ];
        for limit in good {
            assert_eq!(limit.validate(), Ok(()), "{limit:?}");
        }
        let bad = [
            (RateLimit::per_second(0), "use 1 or more"),
            (RateLimit::new(1, Duration::ZERO), "above zero"),
            (RateLimit::new(1, 365 * day + MS), "up to 365 days"),
            (RateLimit::per_second(1_000_000_001), "more than one a nanosecond"),
            (RateLimit::per_second(1).burst(0), "`burst(1)` or more"),
            (RateLimit::new(1, 365 * day).burst(2), "a smaller burst"),
            (RateLimit::per_second(1).burst(u32::MAX), "a smaller burst"),
        ];
        for (limit, expected) in bad {
            let text = limit.validate().unwrap_err();
            assert!(text.contains(expected), "{limit:?}: {text}");
        }
    }

    /// The most calls that any interval may have, by all that were admitted.
    fn is_kept(admitted: &[u32], burst: u32, interval: u32) -> bool {
        let admitted_in =
            |from: u32, to: u32| admitted.iter().filter(|time| (from..=to).contains(*time)).count();
        admitted.iter().all(|&from| {
            admitted.iter().filter(|to| **to >= from).all(|&to| {
                let most = burst + (to - from) / interval;
                admitted_in(from, to) <= usize::try_from(most).unwrap()
            })
        })
    }

    /// Every way in which calls can come: after each one the next comes at once, or after
    /// a part of the interval, or after more. A call is admitted if and only if no
    /// interval then has too many.
    #[test]
    fn all_short_histories_are_as_in_the_reference() {
        fn explore(times: &mut Vec<u32>, depth: usize, burst: u32) -> usize {
            if depth == 0 {
                let start = Instant::now();
                let limiter = RateLimiter::new(&limit(burst), start);
                let mut admitted = Vec::new();
                for &time in &*times {
                    let is_admitted = limiter.take(start + time * MS).is_ok();
                    admitted.push(time);
                    assert_eq!(is_admitted, is_kept(&admitted, burst, 10), "{times:?}");
                    if !is_admitted {
                        admitted.pop();
                    }
                }
                return 1;
            }
            let last = times.last().copied().unwrap_or(0);
            let explored = [0, 4, 10, 13].map(|pause| {
                times.push(last + pause);
                let explored = explore(times, depth - 1, burst);
                times.pop();
                explored
            });
            explored.iter().sum()
        }
        for burst in 1..=3 {
            assert_eq!(explore(&mut Vec::new(), 7, burst), 1 << 14);
        }
    }
}
