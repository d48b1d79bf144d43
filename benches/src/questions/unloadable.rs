//! What does it cost that a plugin can be unloaded and waited for, and that a
//! scope can leave it out? Nothing, unless the scope does leave a handler out:
//! then each handler is looked at.

use std::hint::black_box;

use hooks_runtime::{HookRegistry, Plugins, on};

use crate::measure::clock::{Contender, Effort, measure};
use crate::measure::table::Table;
use crate::peers::boxed;
use crate::peers::names::DYN_FN;
use crate::points::{Form, TELL, Tell, tell, tellers};
use crate::questions::FINE;

const BUILT_IN: &str = "built-in";
pub(crate) const OWNED: &str = "of eight plugins";
pub(crate) const SCOPED: &str = "of eight plugins, in a scope of them";

pub(crate) fn tables(effort: Effort) -> Vec<Table> {
    vec![table(effort)]
}

pub(crate) fn table(effort: Effort) -> Table {
    let calls = boxed(8, tell);
    let (built_in, plugins) = (tellers(8, Form::Sync), HookRegistry::new());
    let ids: Vec<_> = (0..8).map(|n| format!("plugin-{n}")).collect();
    for id in &ids {
        let theirs = on::<Tell>().plugin(id.as_str()).handler(tell);
        plugins.register(theirs).expect("it is registered");
    }
    let (scoped, half) =
        (plugins.scope(Plugins::only(&ids)), plugins.scope(Plugins::only(&ids[..4])));
    let contenders = vec![
        Contender::call(DYN_FN, || calls.iter().for_each(|call| call(black_box(&TELL)))),
        Contender::fire(BUILT_IN, async || {
            built_in.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire(OWNED, async || {
            plugins.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire(SCOPED, async || {
            scoped.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
        Contender::fire("of eight plugins, in a scope of four", async || {
            half.fire_void::<Tell>(black_box(&TELL)).await.expect(FINE);
        }),
    ];
    Table::new("void, 8 sync handlers", DYN_FN, measure(effort, contenders))
}
