//! What does a fire cost whose handlers each wait once?

use std::hint::black_box;

use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use hooks_runtime::Merge;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::boxed_async;
use crate::peers::names::{AWAITS, BOXED, JOIN, JOIN_ALL, READY, UNORDERED};
use crate::points::{
    AMEND, ASK, Amend, AmendPayload, AmendResult, Ask, AskPayload, Form, TELL, Tell, TellPayload,
    amend_once, amenders, ask_once, askers, tell_once, tellers,
};
use crate::questions::{FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    let mut tables = vec![void_eight(effort)];
    tables.extend([1, 64, 1_024].map(|count| void(effort, count)));
    tables.extend([modifying(effort), claiming(effort)]);
    tables
}

/// Eight void handlers, beside a `join!` of the same eight.
pub(crate) fn void_eight(effort: Effort) -> Table {
    let hooks = tellers(8, Form::Once);
    let futures = boxed_async!(8, TellPayload, tell_once);
    let mut contenders = vec![Contender::fire(JOIN, async || {
        let p = black_box(&TELL);
        futures::join!(
            tell_once(p),
            tell_once(p),
            tell_once(p),
            tell_once(p),
            tell_once(p),
            tell_once(p),
            tell_once(p),
            tell_once(p),
        );
    })];
    contenders.extend([
        Contender::fire(READY, async || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire(JOIN_ALL, async || {
            join_all(futures.iter().map(|future| future(black_box(&TELL)))).await;
        }),
        Contender::fire(UNORDERED, async || {
            let all = futures.iter().map(|future| future(black_box(&TELL)));
            let mut all: FuturesUnordered<_> = all.collect();
            while all.next().await.is_some() {}
        }),
    ]);
    Table::new("void, each waits once, 8 handlers", JOIN, measure(effort, contenders))
}

fn void(effort: Effort, count: usize) -> Table {
    let hooks = tellers(count, Form::Once);
    let futures = boxed_async!(count, TellPayload, tell_once);
    let contenders = vec![
        Contender::fire(JOIN_ALL, async || {
            join_all(futures.iter().map(|future| future(black_box(&TELL)))).await;
        }),
        Contender::fire(UNORDERED, async || {
            let all = futures.iter().map(|future| future(black_box(&TELL)));
            let mut all: FuturesUnordered<_> = all.collect();
            while all.next().await.is_some() {}
        }),
        Contender::fire(READY, async || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
    ];
    let question = format!("void, each waits once, {}", handlers(count));
    Table::new(question, JOIN_ALL, measure(effort, contenders))
}

fn modifying(effort: Effort) -> Table {
    let hooks = amenders(8, Form::Once);
    let futures = boxed_async!(8, AmendPayload, amend_once);
    let contenders = vec![
        Contender::fire(AWAITS, async || {
            let mut merged = AmendResult::default();
            for _ in 0..8 {
                merged.merge(amend_once(black_box(&AMEND)).await);
            }
            black_box(&merged);
        }),
        Contender::fire(BOXED, async || {
            let mut merged = AmendResult::default();
            for future in &futures {
                merged.merge(future(black_box(&AMEND)).await);
            }
            black_box(&merged);
        }),
        Contender::fire(READY, async || {
            black_box(&hooks.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        }),
    ];
    Table::new("modifying, each waits once, 8 handlers", AWAITS, measure(effort, contenders))
}

/// Eight claiming handlers, beside eight awaits one after another.
pub(crate) fn claiming(effort: Effort) -> Table {
    let hooks = askers(8, Form::Once);
    let futures = boxed_async!(8, AskPayload, ask_once);
    let contenders = vec![
        Contender::fire(AWAITS, async || {
            for _ in 0..8 {
                if black_box(ask_once(black_box(&ASK)).await).is_some() {
                    break;
                }
            }
        }),
        Contender::fire(BOXED, async || {
            for future in &futures {
                if black_box(future(black_box(&ASK)).await).is_some() {
                    break;
                }
            }
        }),
        Contender::fire(READY, async || {
            let claim = hooks.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        }),
    ];
    Table::new("claiming, each waits once, 8 handlers", AWAITS, measure(effort, contenders))
}
