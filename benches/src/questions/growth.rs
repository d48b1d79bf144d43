//! Against what does the time of a fire grow? In step with the handlers of its
//! own point, and with nothing else.

use std::hint::black_box;

use hooks_runtime::{HookRegistry, Plugins};

use crate::elsewhere;
use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::points::{AMEND, ASK, Amend, Ask, Form, TELL, Tell, amenders, askers, tellers};
use crate::questions::FINE;

/// How many handlers, and how that is called in a table.
pub(crate) const HANDLERS: [(usize, &str); 6] = [
    (1, "1 handler"),
    (4, "4 handlers"),
    (16, "16 handlers"),
    (64, "64 handlers"),
    (256, "256 handlers"),
    (1_024, "1,024 handlers"),
];

/// What stands beside the point that is fired.
pub(crate) type Others = fn(&HookRegistry);
pub(crate) const ALONE: &str = "alone";
pub(crate) const OTHERS: [(&str, Others); 3] = [
    ("beside 10,000 handlers of other points", |hooks| elsewhere::handlers(hooks, 10_000)),
    ("beside 1,000 points", elsewhere::points),
    ("beside 1,000 plugins", |hooks| elsewhere::plugins(hooks, 1_000)),
];
/// A scope is worked out once: its size is not felt either.
const SCOPED: &str = "beside 1,000 plugins, in a scope of them";

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    vec![void(effort), claiming(effort), modifying(effort), beside(effort)]
}

/// The time of a void fire against its handlers.
pub(crate) fn void(effort: Effort) -> Table {
    let contenders = HANDLERS.map(|(count, name)| {
        let hooks = tellers(count, Form::Sync);
        Contender::fire(name, async move || {
            hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        })
    });
    Table::new("growth, void", HANDLERS[0].1, measure(effort, contenders.into()))
}

/// The time of a claiming fire against its handlers.
pub(crate) fn claiming(effort: Effort) -> Table {
    let contenders = HANDLERS.map(|(count, name)| {
        let hooks = askers(count, Form::Sync);
        Contender::fire(name, async move || {
            let claim = hooks.fire_claiming::<Ask>(black_box(&ASK)).await.expect(FINE);
            black_box(claim.is_claimed());
        })
    });
    Table::new("growth, claiming", HANDLERS[0].1, measure(effort, contenders.into()))
}

/// The time of a modifying fire against its handlers.
pub(crate) fn modifying(effort: Effort) -> Table {
    let contenders = HANDLERS.map(|(count, name)| {
        let hooks = amenders(count, Form::Sync);
        Contender::fire(name, async move || {
            black_box(&hooks.fire_modifying::<Amend>(black_box(&AMEND)).await.expect(FINE));
        })
    });
    Table::new("growth, modifying", HANDLERS[0].1, measure(effort, contenders.into()))
}

/// The time of a void fire of eight handlers against all that is elsewhere.
pub(crate) fn beside(effort: Effort) -> Table {
    let mut contenders = vec![eight(ALONE, |_| ())];
    contenders.extend(OTHERS.map(|(name, others)| eight(name, others)));
    let hooks = tellers(8, Form::Sync);
    elsewhere::plugins(&hooks, 1_000);
    let turn = hooks.scope(Plugins::only((0..1_000).map(|n| format!("plugin-{n}"))));
    contenders.push(Contender::fire(SCOPED, async move || {
        turn.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
    }));
    Table::new("growth, void, 8 handlers", ALONE, measure(effort, contenders))
}

fn eight(name: &'static str, others: Others) -> Contender<'static> {
    let hooks = tellers(8, Form::Sync);
    others(&hooks);
    Contender::fire(name, async move || {
        hooks.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
    })
}
