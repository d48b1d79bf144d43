//! What does a gating fire cost that all handlers let pass?

use std::hint::black_box;

use hooks_runtime::{Gate, HookRegistry, Verdict};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::names::{AWAITS, BOXED, DYN_FN, READY, STATIC, SYNC};
use crate::peers::{boxed, boxed_async};
use crate::points::{Form, Message, Pass, pass, pass_ready, passers};
use crate::questions::{COUNTS, FINE, handlers};

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    COUNTS.iter().map(|&count| table(effort, count)).collect()
}

/// The answer for so many handlers.
pub(crate) fn table(effort: Effort, count: usize) -> Table {
    let calls = boxed(count, pass);
    let futures = boxed_async!(count, Message, pass_ready);
    let (sync, ready) = (passers(count, Form::Sync), passers(count, Form::Ready));
    let contenders = vec![
        passing(STATIC, async |mut message| {
            for _ in 0..count {
                judge(&mut message, pass)?;
            }
            Some(message)
        }),
        passing(DYN_FN, async |mut message| {
            for call in &calls {
                judge(&mut message, call)?;
            }
            Some(message)
        }),
        passing(SYNC, async |message| through(&sync, message).await),
        passing(READY, async |message| through(&ready, message).await),
        passing(AWAITS, async |mut message| {
            for _ in 0..count {
                let verdict = pass_ready(black_box(&message)).await;
                judge(&mut message, |_| verdict)?;
            }
            Some(message)
        }),
        passing(BOXED, async |mut message| {
            for future in &futures {
                let verdict = future(black_box(&message)).await;
                judge(&mut message, |_| verdict)?;
            }
            Some(message)
        }),
    ];
    let question = format!("gating, all let it pass, {}", handlers(count));
    Table::new(question, DYN_FN, measure(effort, contenders))
}

/// A contender that is given a message and hands it back: the next call gets
/// the same one again, so that none has to clone it.
pub(crate) fn passing<'a>(
    name: &'static str,
    mut pass: impl AsyncFnMut(Message) -> Option<Message> + 'a,
) -> Contender<'a> {
    let mut held = Some(Message::new());
    Contender::fire(name, async move || {
        held = pass(held.take().expect("it always comes back")).await;
    })
}

/// Sends a message through the handlers of a registry.
pub(crate) async fn through(hooks: &HookRegistry, message: Message) -> Option<Message> {
    match hooks.fire_gating::<Pass>(message).await.expect(FINE) {
        Gate::Passed(message) => Some(message),
        Gate::Rejected(_) => None,
    }
}

/// Asks one handler without a registry; `None` is a rejection.
fn judge(message: &mut Message, handler: impl FnOnce(&Message) -> Verdict<Message>) -> Option<()> {
    match handler(black_box(message)) {
        Verdict::Pass => {}
        Verdict::Replace(other) => *message = other,
        Verdict::Reject(_) => return None,
    }
    Some(())
}
