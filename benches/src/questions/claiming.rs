//! What does a claiming fire cost that no handler claims?

use std::hint::black_box;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::names::{AWAITS, BOXED, DYN_FN, READY, STATIC, SYNC};
use crate::peers::{boxed, boxed_async};
use crate::points::{ASK, Ask, AskPayload, Form, ask, ask_ready, askers};
use crate::questions::{COUNTS, FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    COUNTS.iter().map(|&count| table(effort, count)).collect()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let calls = boxed(count, ask);
    let futures = boxed_async!(count, AskPayload, ask_ready);
    let (sync, ready) = (askers(count, Form::Sync), askers(count, Form::Ready));
    let contenders = vec![
        Contender::call(STATIC, || {
            black_box((0..count).find_map(|_| ask(black_box(&ASK))));
        }),
        Contender::call(DYN_FN, || {
            black_box(calls.iter().find_map(|call| call(black_box(&ASK))));
        }),
        Contender::fire(SYNC, async || {
            let claim = sync.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        }),
        Contender::fire(READY, async || {
            let claim = ready.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        }),
        Contender::fire(AWAITS, async || {
            for _ in 0..count {
                if black_box(ask_ready(black_box(&ASK)).await).is_some() {
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
    ];
    let question = format!("claiming, none claims, {}", handlers(count));
    Table::new(question, DYN_FN, measure(effort, contenders))
}
