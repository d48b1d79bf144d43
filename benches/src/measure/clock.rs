//! Measuring on a noisy machine.

use std::time::Instant;

const ROUNDS: u32 = 300;
const CALLS: u32 = 2_000;

/// A named piece of work.
pub(crate) type Case<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// Times the cases in turn, round by round, and prints the best of each with
/// its ratio to the first.
pub(crate) fn compare(question: &str, mut cases: Vec<Case<'_>>) {
    let mut best = vec![f64::MAX; cases.len()];
    for _ in 0..ROUNDS {
        for ((_, work), best) in cases.iter_mut().zip(&mut best) {
            let start = Instant::now();
            for _ in 0..CALLS {
                work();
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS));
        }
    }
    println!("{question}");
    for ((name, _), time) in cases.iter().zip(&best) {
        println!("  {name:44} {time:8.1} ns  {:5.2} x", time / best[0]);
    }
}

/// Runs a fire that must not have to wait.
macro_rules! now {
    ($fire:expr) => {{
        let mut task = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!($fire).as_mut().poll(&mut task) {
            std::task::Poll::Ready(outcome) => outcome.expect("no handler fails"),
            std::task::Poll::Pending => unreachable!("every handler is ready at once"),
        }
    }};
}

pub(crate) use now;
