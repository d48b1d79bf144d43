//! How does the time to change many handlers grow with their number? In step
//! with it: a change happens under the lock of the registry.

use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hooks_runtime::{FailurePolicy, HookRegistry, Plugin, Registration, Verdict, on};

use crate::measure::clock::Effort;
use crate::points::{Message, Pass, TELL, Tell, TellPayload, tell};
use crate::wait::block_on;

/// The plugin that is changed.
const PLUGIN: &str = "guest";

/// What is done to so many handlers, timed.
type Change = fn(usize) -> Duration;

/// What is asked, of how many handlers at least, and the change.
const CHANGES: [(&str, usize, Change); 15] = [
    ("unregister_plugin", 5_000, |count| {
        let hooks = with(owned(count));
        timed(|| assert_eq!(hooks.unregister_plugin(PLUGIN).removed(), count))
    }),
    ("unregister_plugin, beside a constraint", 5_000, |count| {
        let hooks = with(owned(count));
        constrain(&hooks);
        timed(|| assert_eq!(hooks.unregister_plugin(PLUGIN).removed(), count))
    }),
    ("install_or_replace", 5_000, |count| {
        let hooks = HookRegistry::new();
        drop(hooks.install(Guest(count)).expect(REGISTERED));
        timed(|| drop(hooks.install_or_replace(Guest(count)).expect(REGISTERED)))
    }),
    ("Handles::unregister", 5_000, |count| {
        let hooks = HookRegistry::new();
        let handles = hooks.register(named(count)).expect(REGISTERED);
        timed(|| assert_eq!(handles.unregister().removed(), count))
    }),
    ("Handles::unregister, beside a constraint", 5_000, |count| {
        let hooks = HookRegistry::new();
        let handles = hooks.register(named(count)).expect(REGISTERED);
        constrain(&hooks);
        timed(|| assert_eq!(handles.unregister().removed(), count))
    }),
    ("Handle::unregister, one by one", 2_500, |count| {
        let hooks = HookRegistry::new();
        one_by_one(&hooks, count)
    }),
    ("Handle::unregister, one by one, beside a constraint", 2_500, |count| {
        let hooks = HookRegistry::new();
        constrain(&hooks);
        one_by_one(&hooks, count)
    }),
    ("register, one by one", 2_500, |count| {
        let hooks = HookRegistry::new();
        timed(|| named(count).for_each(|one| drop(hooks.register(one).expect(REGISTERED))))
    }),
    ("register, one by one, each after the last", 1_000, |count| {
        chain(count, |index| on::<Tell>().name(name(index)).after(name(index + 1)))
    }),
    ("register, one by one, each after the last of its plugin", 1_000, |count| {
        chain(count, |index| on::<Tell>().name(name(index)).plugin(PLUGIN).after(name(index + 1)))
    }),
    ("register rewriters and guards with a constraint", 2_500, |count| {
        let hooks = HookRegistry::new();
        let rewriters = (0..count / 2).map(|index| {
            let rewriter = on::<Pass>().name(name(index)).after(name(index / 2));
            rewriter.handler(|_: &Message| Verdict::<Message>::Pass)
        });
        let guards = (0..count / 2).map(|_| on::<Pass>().guard(|_: &Message| Verdict::Pass));
        timed(|| drop(hooks.register(rewriters.chain(guards)).expect(REGISTERED)))
    }),
    ("handlers_at", 5_000, |count| {
        let hooks = with(owned(count));
        timed(|| assert_eq!(hooks.handlers_at::<Tell>().len(), count))
    }),
    ("explain_order, each after the last", 2_500, |count| {
        let hooks = with(linked(count));
        timed(|| assert_eq!(hooks.explain_order::<Tell>().len(), count))
    }),
    ("audit, each after the last", 2_500, |count| {
        let hooks = with(linked(count));
        timed(|| assert_eq!(hooks.audit().unknown_constraints.len(), 0))
    }),
    ("a void fire of handlers that all fail closed", 1_000, |count| {
        let hooks = with((0..count).map(|_| {
            let failing = on::<Tell>().on_failure(FailurePolicy::Closed);
            failing.handler(|_: &TellPayload| Err::<(), _>("it fails"))
        }));
        timed(|| assert!(block_on(hooks.fire_void::<Tell>(black_box(&TELL))).is_err()))
    }),
];

/// How much more eight times as many may take: eight, and something for caches.
pub(crate) const MOST: f64 = 10.0;

const REGISTERED: &str = "they are registered";

/// What the changes took.
#[derive(Debug)]
pub(crate) struct Answer {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: &'static str,
    least: usize,
    /// For as many, twice, four and eight times as many handlers.
    times: [Duration; 4],
}

pub(crate) fn answer(effort: Effort) -> Answer {
    Answer { rows: CHANGES.map(|change| row(effort, change)).into() }
}

/// How much longer it takes to remove 40,000 handlers of a plugin than 5,000.
pub(crate) fn removal(effort: Effort) -> f64 {
    row(effort, CHANGES[0]).growth()
}

fn row(effort: Effort, (what, least, change): (&'static str, usize, Change)) -> Row {
    let (share, rounds) = match effort {
        Effort::Full => (1, 15),
        Effort::Smoke => (100, 1),
    };
    let least = least / share;
    let best = |count| (0..rounds).map(|_| change(count)).min().unwrap_or_default();
    Row { what, least, times: [1, 2, 4, 8].map(|factor| best(least * factor)) }
}

impl Answer {
    /// As [`removal`].
    fn removal(&self) -> f64 {
        self.rows[0].growth()
    }

    pub(crate) fn is_short(&self) -> bool {
        self.removal() > MOST
    }
}

impl Row {
    fn growth(&self) -> f64 {
        self.times[3].as_secs_f64() / self.times[0].as_secs_f64()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let factors = ["n", "2n", "4n", "8n"].map(|factor| format!("{factor:>9}")).concat();
        writeln!(f, "{:58} {:>6} {factors} {:>18}", "milliseconds", "n", "each doubling")?;
        for row in &self.rows {
            write!(f, "{:58} {:6} ", row.what, row.least)?;
            for time in row.times {
                write!(f, "{:9.2}", time.as_secs_f64() * 1e3)?;
            }
            for pair in row.times.windows(2) {
                write!(f, "{:6.1}", pair[1].as_secs_f64() / pair[0].as_secs_f64())?;
            }
            writeln!(f)?;
        }
        let verdict = if self.is_short() { "short" } else { "ok" };
        writeln!(f, "removing 40,000 to removing 5,000: {:.1} ≤ {MOST}  {verdict}", self.removal())
    }
}

fn timed(change: impl FnOnce()) -> Duration {
    let start = Instant::now();
    change();
    start.elapsed()
}

fn with(handlers: impl Iterator<Item = Registration>) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register(handlers).expect(REGISTERED);
    hooks
}

fn name(index: usize) -> String {
    format!("h{index}")
}

fn named(count: usize) -> impl Iterator<Item = Registration> {
    (0..count).map(|index| on::<Tell>().name(name(index)).handler(tell))
}

fn owned(count: usize) -> impl Iterator<Item = Registration> {
    (0..count).map(|index| on::<Tell>().name(name(index)).plugin(PLUGIN).handler(tell))
}

/// Each after the one before it.
fn linked(count: usize) -> impl Iterator<Item = Registration> {
    let first = on::<Tell>().name(name(0)).handler(tell);
    let others =
        (1..count).map(|index| on::<Tell>().name(name(index)).after(name(index - 1)).handler(tell));
    std::iter::once(first).chain(others)
}

/// One constraint between two handlers that nothing else is related to.
fn constrain(hooks: &HookRegistry) {
    let last = on::<Tell>().name("last").priority(-1).after("first").handler(tell);
    let first = on::<Tell>().name("first").priority(1).handler(tell);
    hooks.register([last, first]).expect(REGISTERED);
}

fn one_by_one(hooks: &HookRegistry, count: usize) -> Duration {
    let handles = hooks.register(named(count)).expect(REGISTERED);
    timed(|| handles.iter().for_each(|handle| assert_eq!(handle.unregister().removed(), 1)))
}

/// Registers one by one, each with a constraint that names the one before it.
fn chain(count: usize, place: fn(usize) -> hooks_runtime::handler::On<Tell>) -> Duration {
    let hooks = HookRegistry::new();
    let each = (0..count).rev().map(|index| place(index).handler(tell));
    timed(|| each.for_each(|one| drop(hooks.register(one).expect(REGISTERED))))
}

/// A plugin with so many handlers.
struct Guest(usize);

impl Plugin for Guest {
    const ID: Option<&'static str> = Some(PLUGIN);

    fn registrations(this: &Arc<Self>) -> Vec<Registration> {
        owned(this.0).collect()
    }
}
