//! What does a fire without handlers cost, beside one atomic load?

use std::hint::black_box;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use hooks_runtime::HookRegistry;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::Boxed;
use crate::points::{AMEND, ASK, Amend, Ask, Carry, TELL, Tell, TellPayload};
use crate::questions::FINE;
use crate::questions::gating::{passing, through};

const LOAD: &str = "an atomic load";

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    let word = AtomicU64::new(0);
    let locked = RwLock::new(Vec::<Boxed<TellPayload, ()>>::new());
    let hooks = &HookRegistry::new();
    let contenders = vec![
        Contender::call(LOAD, || {
            black_box(black_box(&word).load(Ordering::Relaxed));
        }),
        Contender::call("a disabled tracing event", || {
            tracing::trace!(n = black_box(&TELL).n);
        }),
        Contender::call("an empty RwLock<Vec>", || {
            for handler in locked.read().expect("no panic").iter() {
                handler(black_box(&TELL));
            }
        }),
        Contender::call("hooks, has_handlers", || {
            black_box(hooks.has_handlers::<Tell>());
        }),
        Contender::fire("hooks, lazy void", async || {
            let payload = || TellPayload { n: black_box(&TELL).n };
            hooks.fire_void_with::<Tell>(payload).await.expect(FINE);
        }),
        Contender::fire("hooks, void", async || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire("hooks, claiming", async || {
            let claim = hooks.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        }),
        Contender::fire("hooks, modifying", async || {
            black_box(&hooks.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        }),
        passing("hooks, gating", async |message| through(hooks, message).await),
        Contender::fire("hooks, flow", async || {
            let carried = hooks
                .run_flow::<Carry, _>(TellPayload { n: black_box(1) }, async |input| {
                    Ok::<_, String>(input.n)
                });
            black_box(carried.await.expect(FINE));
        }),
    ];
    vec![Table::new("no handler", LOAD, measure(effort, contenders))]
}
