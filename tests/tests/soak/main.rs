//! Mixed load on one registry for as long as `SOAK_SECONDS` says: memory stays
//! flat and every counter adds up to the last call (L12, L19, L20, L24, L25).
//!
//! A program of its own: it counts all memory of its process.

mod load;
mod memory;
mod points;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use hooks_runtime::HookRegistry;
use load::Done;
use memory::in_use;
use points::Staying;

/// What a round may leave behind that the one before did not: maps that kept
/// their capacity, not handlers, plugins or fires.
const SLACK: usize = 16 * 1024;

const ROUNDS: u32 = 8;

#[test]
fn l25_memory_is_flat_and_counters_add_up() {
    // The load brings these about, thousands of them; what fails here is printed.
    let loud = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some("a panic") {
            loud(panic);
        }
    }));
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2.0);
    let round = Duration::from_secs_f64(seconds) / ROUNDS;
    let (hooks, done) = (HookRegistry::new(), Arc::<Done>::default());
    let staying = points::register(&hooks);
    // The first round fills what is filled once; the others must add nothing.
    run(&hooks, &done, round);
    let flat = in_use();
    for _ in 1..ROUNDS {
        run(&hooks, &done, round);
        add_up(&hooks, &staying);
        let now = in_use();
        assert!(now <= flat + SLACK, "{flat} bytes in use after one round, {now} now");
    }
    assert_eq!(done.late.load(Relaxed), 0, "calls of plugins that were waited for");
    let failures: u64 = staying.iter().map(|(_, counts)| counts.failures.load(Relaxed)).sum();
    println!(
        "\nproof: soak: {seconds} s, {} fires to their end or dropped ({} dropped), {} timeouts, \
         {failures} failures, {} changes of handlers, {} plugins in and out, memory flat at {} \
         bytes ({flat} after the first of {ROUNDS} rounds), all counters exact",
        done.fires.load(Relaxed),
        done.dropped.load(Relaxed),
        done.timeouts.load(Relaxed),
        done.changes.load(Relaxed),
        done.installs.load(Relaxed),
        in_use(),
    );
}

/// One round: two threads fire, one changes handlers, one plugins.
fn run(hooks: &HookRegistry, done: &Arc<Done>, round: Duration) {
    let end = Instant::now() + round;
    thread::scope(|threads| {
        for seed in [11, 97] {
            threads.spawn(move || load::fire(hooks, done, seed, end));
        }
        threads.spawn(|| load::change(hooks, done, end));
        threads.spawn(|| load::install(hooks, done, end));
    });
}

/// What the registry counted is what the handlers counted, to the last call.
fn add_up(hooks: &HookRegistry, staying: &Staying) {
    let listed = hooks.handlers();
    assert_eq!(listed.len(), staying.len(), "only those that stay are left: {listed:?}");
    for (name, counts) in staying {
        let info = listed.iter().find(|info| &*info.name == *name).unwrap();
        assert_eq!(info.calls, counts.calls.load(Relaxed), "calls of `{name}`");
        assert_eq!(info.failures, counts.failures.load(Relaxed), "failures of `{name}`");
    }
}
