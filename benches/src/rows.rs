//! What callgrind counts: loops around one call each.
//!
//! A row's call is what a host writes, `hooks.fire_void::<P>(&payload).await?`,
//! in an async block that is polled once. So a count includes the lookup of the
//! point, the state of the future and the look at its outcome. "Over the loop"
//! is a row less [`EMPTY`], the same loop with nothing in it but the payload's
//! address, which the optimiser is told to take for used.

use std::hint::black_box;

use hooks_runtime::{FireError, Gate, HookRegistry};

use crate::points::{
    Amend, AmendPayload, Ask, AskPayload, Form, Pass, Tell, TellPayload, amenders, askers,
    boxed_tellers, passers, tellers,
};
use crate::wait::block_on;

/// The row that the others are compared with.
pub(crate) const EMPTY: &str = "empty-loop";

/// A row's name, and its loop.
type Row = (&'static str, fn(u32));

/// A loop in an async block that is polled by the simplest of executors.
macro_rules! rounds {
    ($rounds:ident, $call:expr) => {
        block_on(async {
            for _ in 0..$rounds {
                $call
            }
            Ok::<_, FireError>(())
        })
        .expect("no handler fails")
    };
}

/// All rows.
pub(crate) const ROWS: [Row; 25] = [
    (EMPTY, |rounds| {
        let tell = TellPayload { n: 1 };
        rounds!(rounds, {
            black_box(&tell);
        });
    }),
    ("none-void", |rounds| void(rounds, &HookRegistry::new())),
    ("none-claiming", |rounds| claiming(rounds, &HookRegistry::new())),
    ("none-modifying", |rounds| modifying(rounds, &HookRegistry::new())),
    ("none-gating", |rounds| gating(rounds, &HookRegistry::new())),
    ("none-lazy", |rounds| {
        let (hooks, tell) = (HookRegistry::new(), TellPayload { n: 1 });
        rounds!(rounds, {
            hooks.fire_void_with::<Tell>(|| TellPayload { n: black_box(&tell).n }).await?;
        });
    }),
    ("none-asked", |rounds| {
        let (hooks, tell) = (HookRegistry::new(), TellPayload { n: 1 });
        rounds!(rounds, {
            if hooks.has_handlers::<Tell>() {
                hooks.fire_void::<Tell>(&tell).await?;
            }
            black_box(&tell);
        });
    }),
    ("dyn-fn-8", |rounds| {
        let (boxed, tell) = (boxed_tellers(8), TellPayload { n: 1 });
        rounds!(rounds, {
            for f in black_box(&boxed) {
                f(black_box(&tell));
            }
        });
    }),
    ("void-sync-1", |rounds| void(rounds, &tellers(1, Form::Sync))),
    ("void-sync-8", |rounds| void(rounds, &tellers(8, Form::Sync))),
    ("void-sync-16", |rounds| void(rounds, &tellers(16, Form::Sync))),
    ("void-ready-1", |rounds| void(rounds, &tellers(1, Form::Ready))),
    ("void-ready-8", |rounds| void(rounds, &tellers(8, Form::Ready))),
    ("void-ready-16", |rounds| void(rounds, &tellers(16, Form::Ready))),
    ("void-once-8", |rounds| void(rounds, &tellers(8, Form::Once))),
    ("void-large-8", |rounds| void(rounds, &tellers(8, Form::Large))),
    ("claiming-sync-8", |rounds| claiming(rounds, &askers(8, Form::Sync))),
    ("claiming-ready-8", |rounds| claiming(rounds, &askers(8, Form::Ready))),
    ("claiming-ready-16", |rounds| claiming(rounds, &askers(16, Form::Ready))),
    ("modifying-sync-8", |rounds| modifying(rounds, &amenders(8, Form::Sync))),
    ("modifying-ready-8", |rounds| modifying(rounds, &amenders(8, Form::Ready))),
    ("modifying-ready-16", |rounds| modifying(rounds, &amenders(16, Form::Ready))),
    ("gating-sync-8", |rounds| gating(rounds, &passers(8, Form::Sync))),
    ("gating-ready-8", |rounds| gating(rounds, &passers(8, Form::Ready))),
    ("gating-ready-16", |rounds| gating(rounds, &passers(16, Form::Ready))),
];

fn void(rounds: u32, hooks: &HookRegistry) {
    let tell = TellPayload { n: 1 };
    rounds!(rounds, hooks.fire_void::<Tell>(black_box(&tell)).await?);
}

fn claiming(rounds: u32, hooks: &HookRegistry) {
    let ask = AskPayload { n: 1 };
    rounds!(rounds, {
        let claim = hooks.fire_claiming::<Ask>(black_box(&ask)).await?;
        black_box(claim.is_claimed());
    });
}

fn modifying(rounds: u32, hooks: &HookRegistry) {
    let amend = AmendPayload { n: 1 };
    rounds!(rounds, {
        let amended = hooks.fire_modifying::<Amend>(black_box(&amend)).await?;
        black_box(&amended);
    });
}

fn gating(rounds: u32, hooks: &HookRegistry) {
    rounds!(rounds, {
        let gate = hooks.fire_gating::<Pass>(black_box(1)).await?;
        black_box(matches!(gate, Gate::Passed(_)));
    });
}

/// Runs a row: what callgrind looks at.
pub(crate) fn run(name: &str, rounds: u32) -> Result<(), String> {
    let row = ROWS.iter().find(|(known, _)| *known == name);
    let (_, row) = row.ok_or_else(|| format!("there is no row `{name}`"))?;
    row(rounds);
    Ok(())
}
