//! Times, on a machine that does other things as well.
//!
//! All contenders of a question take turns, in rounds so short that most of
//! them are not interrupted, and the best round of each counts. The times
//! differ from machine to machine and from hour to hour; their ratios hardly
//! do.

use std::time::{Duration, Instant};

use crate::measure::allocations::tally;
use crate::wait::block_on;

/// How long a round is to take.
const ROUND: Duration = Duration::from_micros(20);

/// How much time to spend on each contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Enough to believe the ratios.
    Full,
    /// Only to see that everything runs.
    Smoke,
}

impl Effort {
    /// What one contender may take, and the fewest rounds of it.
    fn budget(self) -> (Duration, u32) {
        match self {
            Self::Full => (Duration::from_millis(250), 50),
            Self::Smoke => (Duration::ZERO, 1),
        }
    }
}

/// One way to do what a question is about.
pub(crate) struct Contender<'a> {
    name: &'static str,
    /// Does it so many times.
    run: Box<dyn FnMut(u32) + 'a>,
}

impl<'a> Contender<'a> {
    /// A function. The loop around it is the contender's own, so nothing
    /// stands between the two.
    pub(crate) fn call(name: &'static str, mut call: impl FnMut() + 'a) -> Self {
        Self::batch(name, move |times| (0..times).for_each(|_| call()))
    }

    /// An async function, called in a loop that is one future.
    pub(crate) fn fire(name: &'static str, mut fire: impl AsyncFnMut() + 'a) -> Self {
        Self::batch(name, move |times| {
            block_on(async {
                for _ in 0..times {
                    fire().await;
                }
            });
        })
    }

    /// An async function that needs tokio's timers.
    pub(crate) fn on_tokio(name: &'static str, mut fire: impl AsyncFnMut() + 'a) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime of the current thread can be made");
        Self::batch(name, move |times| {
            runtime.block_on(async {
                for _ in 0..times {
                    fire().await;
                }
            });
        })
    }

    /// A function that does it so many times.
    pub(crate) fn batch(name: &'static str, run: impl FnMut(u32) + 'a) -> Self {
        Self { name, run: Box::new(run) }
    }

    fn time(&mut self, times: u32) -> Duration {
        let start = Instant::now();
        (self.run)(times);
        start.elapsed()
    }

    /// How many times fit into a round.
    fn times(&mut self) -> u32 {
        let mut times = 1;
        while times < 1 << 20 && self.time(times) < ROUND {
            times *= 2;
        }
        times
    }
}

/// What a contender took.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// Nanoseconds a call.
    pub(crate) nanos: f64,
    /// Allocations a call.
    pub(crate) allocations: f64,
}

/// Lets the contenders take turns, and returns the best of each.
pub(crate) fn measure(effort: Effort, mut contenders: Vec<Contender<'_>>) -> Vec<Measured> {
    let (budget, rounds) = effort.budget();
    let mut measured: Vec<_> = contenders.iter_mut().map(first).collect();
    let budget = budget * u32::try_from(contenders.len()).expect("a handful");
    let start = Instant::now();
    let mut round = 0;
    while round < rounds || start.elapsed() < budget {
        for (contender, (times, best)) in contenders.iter_mut().zip(&mut measured) {
            let nanos = contender.time(*times).as_secs_f64() * 1e9 / f64::from(*times);
            best.nanos = best.nanos.min(nanos);
        }
        round += 1;
    }
    measured.into_iter().map(|(_, best)| best).collect()
}

/// Finds out how many calls make a round, and counts the allocations of some
/// when all that is made once is there.
fn first(contender: &mut Contender<'_>) -> (u32, Measured) {
    const COUNTED: u32 = 8;
    let times = contender.times();
    let before = tally();
    (contender.run)(COUNTED);
    // Fewer than 2^52 of them: nothing is lost.
    #[allow(clippy::cast_precision_loss)]
    let allocations = (tally().calls - before.calls) as f64 / f64::from(COUNTED);
    (times, Measured { name: contender.name, nanos: f64::MAX, allocations })
}
