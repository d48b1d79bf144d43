//! Running a model under many schedules.

use std::sync::Arc;

use shuttle::rand::Rng;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicBool, Ordering};
use shuttle::{Config, Runner};

/// How many schedules to explore with each of the two schedulers: the variable
/// `SCHEDULES`, or what takes a moment.
pub fn schedules() -> usize {
    std::env::var("SCHEDULES").ok().and_then(|count| count.parse().ok()).unwrap_or(3_000)
}

/// Runs `model` under schedules drawn at random, and under as many that
/// preempt a thread at a few chosen steps, which is what most races need.
///
/// A schedule that panics, or in which all threads wait, fails the test and is
/// printed, to be replayed with `shuttle::replay`.
pub fn explore(what: &str, model: impl Fn() + Send + Sync + 'static) {
    let (count, model) = (schedules(), Arc::new(model));
    let random = run(RandomScheduler::new(count), &model);
    // Three preemptions: one more than any model here has threads to spare.
    let chosen = run(PctScheduler::new(3, count), &model);
    println!("\nproof: schedules: {what}: {random} at random, {chosen} with chosen preemptions");
}

fn run(
    scheduler: impl Scheduler + 'static,
    model: &Arc<impl Fn() + Send + Sync + 'static>,
) -> usize {
    let mut config = Config::new();
    // The table of points and a thread's block of steps are built on the stack,
    // and the checker's atomics are many times the size of real ones.
    config.stack_size = 1024 * 1024;
    let model = Arc::clone(model);
    Runner::new(scheduler, config).run(move || model())
}

/// Lets the other threads get ahead by a number of steps that the schedule
/// draws: two threads that start together would rarely meet in the middle of
/// what they do.
pub fn delay() {
    let step = AtomicBool::new(false);
    for _ in 0..shuttle::rand::thread_rng().gen_range(0..24) {
        step.load(Ordering::SeqCst);
    }
}
