//! What a fire may cost, and what it does.
//!
//! Each row is measured in this run: instructions by callgrind, times as ratios
//! of contenders that took turns, allocations by counting.

use std::fmt;

use crate::measure::clock::Effort;
use crate::measure::instructions::{Counter, NotCounted};
use crate::peers::names::{ANNOTATED, AWAITS, DYN_FN, IRONCLAW, JOIN, READY, SYNC, UNORDERED};
use crate::questions::{
    claiming, flow, gating, growth, idle, ironclaw, limited, modifying, removal, suspended,
    threads, unloadable, void, woken,
};
use crate::rows::{AWAITING, EMPTY};

/// What a figure has to be.
#[derive(Clone, Copy, Debug)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn holds(self, measured: f64) -> bool {
        match self {
            Self::AtMost(limit) => measured <= limit,
            Self::AtLeast(limit) => measured >= limit,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(limit) => write!(f, "≤ {limit}"),
            Self::AtLeast(limit) => write!(f, "≥ {limit}"),
        }
    }
}

/// A row that callgrind counts: what it is called, the loop and the one that it
/// is compared with, in how many parts the difference is divided, and the limit.
type Counted = (&'static str, &'static str, &'static str, f64, f64);

#[rustfmt::skip]
const COUNTED: [Counted; 18] = [
    ("no handler, void: instructions", "none-void", EMPTY, 1.0, 25.0),
    ("no handler, claiming: instructions", "none-claiming", EMPTY, 1.0, 25.0),
    ("no handler, modifying: instructions", "none-modifying", EMPTY, 1.0, 57.0),
    ("no handler, gating: instructions", "none-gating", EMPTY, 1.0, 93.0),
    // Less a loop around an await that is not reached: what that loop does to
    // keep its counter in memory is not the fire's.
    ("no handler, lazy: instructions", "none-lazy", AWAITING, 1.0, 12.0),
    ("one more sync void handler: instructions", "void-sync-16", "void-sync-8", 8.0, 25.0),
    ("one more async void handler: instructions", "void-ready-16", "void-ready-8", 8.0, 33.0),
    ("8 sync void handlers: instructions", "void-sync-8", EMPTY, 1.0, 400.0),
    ("8 sync modifying handlers: instructions", "modifying-sync-8", EMPTY, 1.0, 540.0),
    ("8 sync gating handlers: instructions", "gating-sync-8", EMPTY, 1.0, 540.0),
    ("10,000 handlers elsewhere: more instructions", "beside-10000-handlers", "void-sync-8", 1.0, 1.0),
    ("1,000 points elsewhere: more instructions", "beside-1000-points", "void-sync-8", 1.0, 1.0),
    ("1,000 plugins elsewhere: more instructions", "beside-1000-plugins", "void-sync-8", 1.0, 1.0),
    ("an operator's settings elsewhere: more instructions", "beside-settings", "void-sync-8", 1.0, 0.0),
    ("an operator's trace elsewhere: more instructions", "beside-trace", "void-sync-8", 1.0, 0.0),
    ("after an operator's trace: more instructions", "after-trace", "void-sync-8", 1.0, 0.0),
    ("a recording elsewhere: more instructions", "beside-recording", "void-sync-8", 1.0, 0.0),
    ("after a recording: more instructions", "after-recording", "void-sync-8", 1.0, 0.0),
];

/// What a time limit may cost, in looks at the clock: two, and half of one
/// for the way that is longer than that of handlers without.
const LOOKS: f64 = 2.5;

/// One row. Without a figure it was not measured.
#[derive(Debug)]
struct Goal {
    what: String,
    measured: Option<f64>,
    limit: Limit,
}

/// All rows.
#[derive(Debug, Default)]
pub(crate) struct Goals {
    rows: Vec<Goal>,
    /// Why some were not measured.
    note: Option<NotCounted>,
}

impl Goals {
    /// Measures them all.
    pub(crate) fn measure(effort: Effort) -> Self {
        let mut goals = Self::default();
        goals.instructions();
        goals.no_handlers(effort);
        goals.at_once(effort);
        goals.plugins(effort);
        goals.waiting(effort);
        goals.others(effort);
        goals.limited(effort);
        goals.growth(effort);
        goals
    }

    /// Whether a row that was measured misses its limit.
    pub(crate) fn is_short(&self) -> bool {
        self.rows.iter().any(|goal| goal.measured.is_some_and(|it| !goal.limit.holds(it)))
    }

    fn add(&mut self, what: impl Into<String>, measured: impl Into<Option<f64>>, limit: Limit) {
        self.rows.push(Goal { what: what.into(), measured: measured.into(), limit });
    }

    fn instructions(&mut self) {
        let mut counter = Counter::new();
        for (what, row, base, share, limit) in COUNTED {
            let figure = match &mut counter {
                // Start-up differs from run to run, by less than this shows a round.
                Ok(counter) => {
                    counter.over(row, base).map(|count| (count / share * 10.0).round() / 10.0)
                }
                Err(_) => Err(NotCounted::NoValgrind),
            };
            match figure {
                Ok(count) => self.add(what, count, Limit::AtMost(limit)),
                Err(why) => {
                    self.add(what, None, Limit::AtMost(limit));
                    self.note = Some(why);
                }
            }
        }
    }

    fn no_handlers(&mut self, effort: Effort) {
        for table in idle::tables(effort) {
            let ours = table.rows.iter().filter(|row| row.name.starts_with("hooks"));
            let most = ours.map(|row| row.allocations).fold(0.0, f64::max);
            self.add("no handler, any model: allocations", most, Limit::AtMost(0.0));
        }
    }

    fn at_once(&mut self, effort: Effort) {
        let (void, claiming) = (void::table(effort, 8), claiming::table(effort, 8));
        let modifying = modifying::table(effort, 8);
        for (name, table, limit) in
            [("void", &void, 1.9), ("claiming", &claiming, 2.0), ("modifying", &modifying, 1.3)]
        {
            let what = format!("8 sync {name} handlers, to the dyn Fn loop");
            self.add(what, table.ratio(SYNC, DYN_FN), Limit::AtMost(limit));
        }
        let what = "8 async void handlers, to the dyn Fn loop";
        self.add(what, void.ratio(READY, DYN_FN), Limit::AtMost(2.2));
        let what = "8 annotated async void handlers, to the dyn Fn loop";
        self.add(what, void.ratio(ANNOTATED, DYN_FN), Limit::AtMost(2.2));
        let gating = gating::table(effort, 8);
        let flow = flow::table(effort, 8);
        let tables = [&void, &claiming, &modifying, &gating, &flow];
        let most = tables.map(|table| table.row(READY).allocations).into_iter().fold(0.0, f64::max);
        self.add("8 async handlers, any model: allocations", most, Limit::AtMost(0.0));
    }

    fn plugins(&mut self, effort: Effort) {
        let table = unloadable::table(effort);
        let what = "8 sync void handlers of eight plugins, to the dyn Fn loop";
        self.add(what, table.ratio(unloadable::OWNED, DYN_FN), Limit::AtMost(2.2));
        let what = "the same, in a scope of the eight";
        self.add(what, table.ratio(unloadable::SCOPED, DYN_FN), Limit::AtMost(2.2));
    }

    fn waiting(&mut self, effort: Effort) {
        let void = suspended::void_eight(effort);
        let what = "8 void handlers that wait once, to join!";
        self.add(what, void.ratio(READY, JOIN), Limit::AtMost(2.5));
        let what = "8 void handlers that wait once: allocations";
        self.add(what, void.row(READY).allocations, Limit::AtMost(2.0));
        let claiming = suspended::claiming(effort);
        let what = "8 claiming handlers that wait once, to eight awaits";
        self.add(what, claiming.ratio(READY, AWAITS), Limit::AtMost(8.0));
        let what = "8 claiming handlers that wait once: allocations";
        self.add(what, claiming.row(READY).allocations, Limit::AtMost(0.0));
        let woken = woken::table(effort, 1_024);
        let what = "1,024 woken one by one, to FuturesUnordered";
        self.add(what, woken.ratio(READY, UNORDERED), Limit::AtMost(1.1));
    }

    fn others(&mut self, effort: Effort) {
        let table = ironclaw::table(effort);
        let what = "IronClaw's way, to 8 gating handlers";
        self.add(what, table.ratio(IRONCLAW, READY), Limit::AtLeast(11.0));
    }

    fn limited(&mut self, effort: Effort) {
        let table = limited::table(effort);
        for (name, pair) in [("void", limited::VOID), ("claiming", limited::CLAIMING)] {
            let what = format!("a time limit, 1 {name} handler ready at once: looks at the clock");
            self.add(what, limited::looks(&table, pair), Limit::AtMost(LOOKS));
        }
    }

    fn growth(&mut self, effort: Effort) {
        // The instructions say that nothing grows; the times say that the
        // caches do not mind, as far as times can.
        let table = growth::beside(effort);
        for (name, _) in growth::OTHERS {
            let what = format!("8 void handlers {name}, to alone");
            self.add(what, table.ratio(name, growth::ALONE), Limit::AtMost(1.1));
        }
        let gain = threads::answer(effort).calm.gain();
        self.add("two threads at one point, to one: throughput", gain, Limit::AtLeast(1.8));
        let what = "removing 40,000 handlers, to removing 5,000";
        self.add(what, removal::removal(effort), Limit::AtMost(removal::MOST));
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:66} {:>9} {:>7}", "goal", "measured", "limit")?;
        for Goal { what, measured, limit } in &self.rows {
            let limit_text = limit.to_string();
            match measured {
                None => writeln!(f, "{what:66} {:>9} {limit_text:>7}  not measured", "-")?,
                Some(it) => {
                    let verdict = if limit.holds(*it) { "ok" } else { "short" };
                    writeln!(f, "{what:66} {it:9.2} {limit_text:>7}  {verdict}")?;
                }
            }
        }
        match &self.note {
            Some(why) => writeln!(f, "{why}"),
            None => Ok(()),
        }
    }
}
