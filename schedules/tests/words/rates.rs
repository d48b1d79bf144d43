//! A rate limiter that several calls meet: as many are admitted as may be, and no more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::checker::thread;
use crate::every_schedule;
use crate::rate::{RateLimit, RateLimiter};

const INTERVAL: Duration = Duration::from_millis(10);

/// How many of the calls are admitted that come together, so many intervals after the
/// limiter was made.
fn admitted<const N: usize>(burst: u32, times: [u32; N]) -> usize {
    let start = Instant::now();
    let limiter = Arc::new(RateLimiter::new(&RateLimit::new(1, INTERVAL).burst(burst), start));
    let threads: Vec<_> = times[1..]
        .iter()
        .map(|&time| {
            let limiter = Arc::clone(&limiter);
            thread::spawn(move || limiter.take(start + time * INTERVAL).is_ok())
        })
        .collect();
    let first = limiter.take(start + times[0] * INTERVAL).is_ok();
    let others = threads.into_iter().map(|thread| thread.join().unwrap());
    usize::from(first) + others.filter(|is_admitted| *is_admitted).count()
}

#[test]
fn l35_a_rate_limit_admits_as_many_as_it_says() {
    every_schedule("two calls at a limit of one", || assert_eq!(admitted(1, [0, 0]), 1));
    every_schedule("three calls at a burst of two", || assert_eq!(admitted(2, [0, 0, 0]), 2));
}

#[test]
fn l35_a_clock_that_is_behind_admits_no_more() {
    // The second of them may be refused because the first, whose clock is ahead, has come.
    every_schedule("two calls, one of them by a clock that is behind", || {
        let admitted = admitted(1, [1, 0]);
        assert!((1..=2).contains(&admitted), "{admitted}");
    });
    // One at the start, one an interval later: the third is one too many.
    every_schedule("three calls, one of them by a clock that is behind", || {
        let admitted = admitted(1, [1, 0, 1]);
        assert!((1..=2).contains(&admitted), "{admitted}");
    });
}
