//! What does a modifying fire cost whose handlers finish at once?

use std::hint::black_box;

use hooks_runtime::Merge;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::names::{AWAITS, BOXED, DYN_FN, READY, STATIC, SYNC};
use crate::peers::{boxed, boxed_async};
use crate::points::{AMEND, Amend, AmendPayload, AmendResult, Form, amend, amend_ready, amenders};
use crate::questions::{COUNTS, FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    COUNTS.iter().map(|&count| table(effort, count)).collect()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let calls = boxed(count, amend);
    let futures = boxed_async!(count, AmendPayload, amend_ready);
    let (sync, ready) = (amenders(count, Form::Sync), amenders(count, Form::Ready));
    let contenders = vec![
        Contender::call(STATIC, || {
            let mut merged = AmendResult::default();
            for _ in 0..count {
                merged.merge(amend(black_box(&AMEND)));
            }
            black_box(&merged);
        }),
        Contender::call(DYN_FN, || {
            let mut merged = AmendResult::default();
            for call in &calls {
                merged.merge(call(black_box(&AMEND)));
            }
            black_box(&merged);
        }),
        Contender::fire(SYNC, async || {
            black_box(&sync.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        }),
        Contender::fire(READY, async || {
            black_box(&ready.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        }),
        Contender::fire(AWAITS, async || {
            let mut merged = AmendResult::default();
            for _ in 0..count {
                merged.merge(amend_ready(black_box(&AMEND)).await);
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
    ];
    let question = format!("modifying, nothing to add, {}", handlers(count));
    Table::new(question, DYN_FN, measure(effort, contenders))
}
