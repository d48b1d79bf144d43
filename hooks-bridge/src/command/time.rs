//! How long a run may take, so that it is over before its fire gives it up.

use std::time::Duration;

use crate::runner::{Cause, Failure};

/// The most that is kept back for a killed command to be reaped.
const MOST_FOR_ITS_END: Duration = Duration::from_millis(100);

/// In less than this no process is started, killed and reaped.
const SHORTEST: Duration = Duration::from_millis(5);

/// What one run may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// From now to TERM.
    pub(super) limit: Duration,
    /// From there to KILL.
    pub(super) grace: Duration,
    /// The part of its fire's time that it has, and all of that, where it has less than its
    /// own limit because of them.
    of_fire: Option<(Duration, Duration)>,
}

impl Time {
    /// The time of a command with this limit and this grace, whose fire waits for so long,
    /// of which that much has passed.
    ///
    /// The command has what its fire waits but for the grace, and at least three quarters of
    /// it. What is left to the grace ends early enough for the killed command to be reaped.
    pub(super) fn of(
        limit: Duration,
        grace: Duration,
        fire: Option<Duration>,
        passed: Duration,
    ) -> Result<Self, Failure> {
        let Some(waits) = fire else { return Ok(Self { limit, grace, of_fire: None }) };
        let within = waits.saturating_sub(grace).max(waits / 4 * 3);
        let most = within.saturating_sub(passed);
        if waits < SHORTEST || most.is_zero() {
            return Err(Failure::new(Cause::NoTime(waits)));
        }
        let of_fire = (limit > most).then_some((within, waits));
        let limit = limit.min(most);
        let end = MOST_FOR_ITS_END.min(waits / 10);
        let grace = grace.min(waits.saturating_sub(passed + limit).saturating_sub(end));
        Ok(Self { limit, grace, of_fire })
    }

    /// The failure, said with the limit that was the reason.
    pub(super) fn explained(&self, mut failure: Failure) -> Failure {
        if let (Cause::Timeout(_), Some((within, of))) = (&failure.cause, self.of_fire) {
            failure.cause = Cause::FireTimeout { within, of };
        }
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn time(limit: u64, grace: u64, fire: u64) -> (Duration, Duration, bool) {
        let time = Time::of(ms(limit), ms(grace), Some(ms(fire)), ms(0)).unwrap();
        (time.limit, time.grace, time.of_fire.is_some())
    }

    #[test]
    fn a_run_is_over_before_its_fire() {
        assert_eq!(time(1_000, 500, 9_000), (ms(1_000), ms(500), false));
        assert_eq!(time(60_000, 500, 5_000), (ms(4_500), ms(400), true));
        assert_eq!(time(60_000, 500, 300), (ms(225), ms(45), true));
        assert_eq!(time(1_000, 500, 1_200), (ms(900), ms(200), true));
        assert_eq!(time(1_000, 0, 1_000), (ms(1_000), ms(0), false));
        for (grace, fire) in [(0, 5), (1, 7), (500, 5), (500, 40), (4_000, 5_000)] {
            let (limit, grace, _) = time(60_000, grace, fire);
            assert!(limit + grace <= ms(fire), "{limit:?} and {grace:?} of {fire}");
            assert!(limit >= ms(fire) / 4 * 3);
        }
    }

    #[test]
    fn a_time_beyond_the_clock_is_one() {
        let longest = Duration::MAX;
        let time = Time::of(longest, Duration::ZERO, Some(longest), Duration::ZERO).unwrap();
        assert_eq!((time.limit, time.grace), (longest, Duration::ZERO));
    }

    #[test]
    fn what_has_passed_is_gone() {
        let time = Time::of(ms(900), ms(50), Some(ms(1_000)), ms(500)).unwrap();
        assert_eq!((time.limit, time.grace), (ms(450), ms(0)));
        assert_eq!(time.of_fire, Some((ms(950), ms(1_000))));
        for (fire, passed) in [(0, 0), (1, 0), (1_000, 950), (1_000, 2_000)] {
            let failure = Time::of(ms(900), ms(50), Some(ms(fire)), ms(passed)).unwrap_err();
            assert_eq!((failure.cause, failure.started), (Cause::NoTime(ms(fire)), false));
        }
    }
}
