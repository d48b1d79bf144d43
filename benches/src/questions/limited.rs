//! What does a time limit cost a handler that is ready at once? Looks at the
//! clock: one before the call, one after.

use std::hint::black_box;
use std::time::{Duration, Instant};

use hooks_runtime::{HookRegistry, Registration, on};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::points::{ASK, Ask, Form, TELL, Tell, ask_ready, askers, tell_ready, tellers};
use crate::questions::FINE;

pub(crate) const CLOCK: &str = "Instant::now";
pub(crate) const VOID: [&str; 2] = ["hooks, void, no limit", "hooks, void, 5 s limit"];
pub(crate) const CLAIMING: [&str; 2] = ["hooks, claiming, no limit", "hooks, claiming, 5 s limit"];

/// The limit, which no handler reaches.
const LIMIT: Duration = Duration::from_secs(5);

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    vec![table(effort)]
}

pub(crate) fn table(effort: Effort) -> Table {
    let void = [tellers(1, Form::Ready), with(on::<Tell>().timeout(LIMIT).handler(tell_ready))];
    let claiming = [askers(1, Form::Ready), with(on::<Ask>().timeout(LIMIT).handler(ask_ready))];
    let mut contenders = vec![Contender::call(CLOCK, || {
        black_box(Instant::now());
    })];
    contenders.extend(VOID.into_iter().zip(&void).map(|(name, hooks)| {
        Contender::fire(name, async || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        })
    }));
    contenders.extend(CLAIMING.into_iter().zip(&claiming).map(|(name, hooks)| {
        Contender::fire(name, async || {
            let claim = hooks.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        })
    }));
    Table::new("1 async handler that is ready at once", CLOCK, measure(effort, contenders))
}

/// How many looks at the clock the limit costs.
pub(crate) fn looks(table: &Table, [without, with]: [&str; 2]) -> f64 {
    (table.row(with).nanos - table.row(without).nanos) / table.row(CLOCK).nanos
}

fn with(handler: Registration) -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks.register(handler).expect("it is registered");
    hooks
}
