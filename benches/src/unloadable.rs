//! What does it cost that a plugin can be unloaded and waited for? The calls
//! of its handlers are counted in and out; those of built-in handlers are not.

use std::future::Future;
use std::hint::black_box;

use hooks_runtime::{HookRegistry, Plugins, on};

use crate::measure::clock::{compare, now};
use crate::points::{Tell, TellPayload, work};

pub(crate) fn print() {
    let (built_in, plugins) = (HookRegistry::new(), HookRegistry::new());
    let ids: Vec<_> = (0..8).map(|n| format!("plugin-{n}")).collect();
    for id in &ids {
        let handler = |p: &TellPayload| work(p.n);
        built_in.register(on::<Tell>().handler(handler)).expect("it is registered");
        let theirs = on::<Tell>().plugin(id.as_str()).handler(handler);
        plugins.register(theirs).expect("it is registered");
    }
    let scoped = plugins.scope(Plugins::only(ids));
    let tell = TellPayload { n: 1 };
    compare(
        "void, eight sync handlers",
        vec![
            ("built-in", Box::new(|| now!(built_in.fire_void::<Tell>(black_box(&tell))))),
            ("of eight plugins", Box::new(|| now!(plugins.fire_void::<Tell>(black_box(&tell))))),
            (
                "of eight plugins, in a scope of them",
                Box::new(|| {
                    now!(scoped.fire_void::<Tell>(black_box(&tell)));
                }),
            ),
        ],
    );
}
