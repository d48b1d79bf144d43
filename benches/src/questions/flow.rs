//! What does a flow cost around an operation that does next to nothing, with
//! handlers before it that finish at once?

use std::hint::black_box;

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::names::{BOXED, DYN_FN, READY, STATIC, SYNC};
use crate::peers::{boxed, boxed_async};
use crate::points::{Carry, Form, TellPayload, carriers, tell, tell_ready};
use crate::questions::{COUNTS, FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    COUNTS.iter().map(|&count| table(effort, count)).collect()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let calls = boxed(count, tell);
    let futures = boxed_async!(count, TellPayload, tell_ready);
    let (sync, ready) = (carriers(count, Form::Sync), carriers(count, Form::Ready));
    let contenders = vec![
        Contender::fire(STATIC, async || {
            let input = input();
            for _ in 0..count {
                tell(&input);
            }
            black_box(operation(input).await.expect(FINE));
        }),
        Contender::fire(DYN_FN, async || {
            let input = input();
            for call in &calls {
                call(&input);
            }
            black_box(operation(input).await.expect(FINE));
        }),
        Contender::fire(SYNC, async || {
            black_box(sync.run_flow::<Carry, _>(input(), operation).await.expect(FINE));
        }),
        Contender::fire(READY, async || {
            black_box(ready.run_flow::<Carry, _>(input(), operation).await.expect(FINE));
        }),
        Contender::fire(BOXED, async || {
            let input = input();
            for future in &futures {
                future(&input).await;
            }
            black_box(operation(input).await.expect(FINE));
        }),
    ];
    let question = format!("flow, before the operation, {}", handlers(count));
    Table::new(question, DYN_FN, measure(effort, contenders))
}

async fn operation(input: TellPayload) -> Result<u64, String> {
    Ok(input.n + 1)
}

fn input() -> TellPayload {
    TellPayload { n: black_box(1) }
}
