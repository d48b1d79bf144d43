//! Does a second thread that fires the same point add to the throughput? And
//! what does it feel of a third one that registers and unregisters all the
//! while?

use std::fmt;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, RwLock};
use std::time::{Duration, Instant};

use hooks_runtime::{HookRegistry, on};

use crate::measure::clock::Effort;
use crate::points::{TELL, Tell, TellPayload};
use crate::questions::FINE;
use crate::wait::block_on;

/// A handler that threads share.
type Function = Box<dyn Fn(&TellPayload) + Send + Sync>;

/// Fires of each thread in a round.
const FIRES: u32 = 1_000;
/// Rounds between two changes of the number of threads.
const ROUNDS: usize = 25;

/// Fires a microsecond, all threads together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throughput {
    pub(crate) one: f64,
    pub(crate) two: f64,
}

impl Throughput {
    /// What the second thread makes of it.
    pub(crate) fn gain(&self) -> f64 {
        self.two / self.one
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    /// A registry, with no other thread.
    pub(crate) calm: Throughput,
    /// With a third thread that registers and unregisters at the same point.
    churned: Throughput,
    /// How often it did.
    changes: usize,
    /// For comparison: a lock around a vector of boxed functions.
    locked: Throughput,
}

pub(crate) fn answer(effort: Effort) -> Answer {
    let turns = match effort {
        Effort::Full => 40,
        Effort::Smoke => 1,
    };
    let hooks = HookRegistry::new();
    hooks.register((0..8).map(|_| on::<Tell>().handler(look))).expect("they are registered");
    let functions: Vec<Function> = (0..8).map(|_| Box::new(look) as _).collect();
    let functions = RwLock::new(functions);
    let locked = throughput(turns, &|| {
        for _ in 0..FIRES {
            for function in functions.read().expect("no panic").iter() {
                function(black_box(&TELL));
            }
        }
    });
    let calm = throughput(turns, &|| fire(&hooks));
    let (churned, changes) = beside_changes(&hooks, || throughput(turns, &|| fire(&hooks)));
    Answer { calm, churned, changes, locked }
}

/// A handler that shares nothing: what two threads feel of each other here is
/// the registry's doing.
fn look(p: &TellPayload) {
    black_box(p.n);
}

fn fire(hooks: &HookRegistry) {
    block_on(async {
        for _ in 0..FIRES {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }
    });
}

/// One thread and two threads in turn; the best rounds of each.
fn throughput(turns: usize, work: &(dyn Fn() + Sync)) -> Throughput {
    let mut best = [Duration::MAX; 2];
    for _ in 0..turns {
        for (others, best) in best.iter_mut().enumerate() {
            *best = (*best).min(rounds(others, work));
        }
    }
    let rate = |threads: f64, best: Duration| threads * f64::from(FIRES) / best.as_secs_f64() / 1e6;
    Throughput { one: rate(1.0, best[0]), two: rate(2.0, best[1]) }
}

/// The best of some rounds of this thread with so many others, each from when
/// the first of them begins to when the last of them is done: a round in which
/// they did not run side by side is no good one.
fn rounds(others: usize, work: &(dyn Fn() + Sync)) -> Duration {
    let barrier = Barrier::new(others + 1);
    let (ready, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let spans = Mutex::new(Vec::new());
    // The barrier wakes those who sleep, one after another; they then wait for
    // each other awake, so that all begin at one instant.
    let meet = |met: &AtomicUsize, round: usize| {
        met.fetch_add(1, Ordering::AcqRel);
        while met.load(Ordering::Acquire) < (others + 1) * round {
            spin_loop();
        }
    };
    let take_part = |round| {
        barrier.wait();
        meet(&ready, round);
        let begin = Instant::now();
        work();
        let end = Instant::now();
        spans.lock().expect("no panic").push((begin, end));
        meet(&done, round);
    };
    std::thread::scope(|scope| {
        for _ in 0..others {
            scope.spawn(|| (1..=ROUNDS).for_each(take_part));
        }
        let mut best = Duration::MAX;
        for round in 1..=ROUNDS {
            take_part(round);
            let spans = std::mem::take(&mut *spans.lock().expect("no panic"));
            let begin = spans.iter().map(|(begin, _)| *begin).min();
            let end = spans.iter().map(|(_, end)| *end).max();
            let (begin, end) = begin.zip(end).expect("this thread took part");
            best = best.min(end - begin);
        }
        best
    })
}

/// Runs `work` while another thread registers and unregisters; says how often.
fn beside_changes<T>(hooks: &HookRegistry, work: impl FnOnce() -> T) -> (T, usize) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let changing = scope.spawn(|| {
            let mut changes = 0;
            while !over.load(Ordering::Acquire) {
                let handles = hooks.register(on::<Tell>().handler(look)).expect("it is registered");
                assert_eq!(handles.unregister().removed(), 1, "it was there");
                changes += 2;
            }
            changes
        });
        let result = work();
        over.store(true, Ordering::Release);
        (result, changing.join().expect("registering does not panic"))
    })
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calm, churned, changes, locked } = self;
        writeln!(f, "threads, void, 8 sync handlers: fires a microsecond, best rounds")?;
        writeln!(f, "  {:38} {:>8} {:>8} {:>6}", "", "1 thread", "2", "gain")?;
        for (name, rates) in [
            ("RwLock<Vec<Box<dyn Fn>>>", locked),
            ("hooks", calm),
            ("hooks, while a third thread changes it", churned),
        ] {
            let Throughput { one, two } = rates;
            writeln!(f, "  {name:38} {one:8.2} {two:8.2} {:6.2}", rates.gain())?;
        }
        writeln!(f, "  the third thread made {changes} changes meanwhile")
    }
}
