//! What does a registry hold, and is all of it given back?

use std::fmt;

use hooks_runtime::{HookRegistry, Registration, on};

use crate::measure::allocations::tally;
use crate::measure::clock::Effort;
use crate::points::{Ask, Tell, ask, tell, tell_ready};

/// What came of it, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer {
    idle: i64,
    point: i64,
    handler: i64,
    handler_alone: i64,
    plugin: i64,
    times: u32,
    /// What a million registrations and removals leave behind.
    pub(crate) left: i64,
    /// The same of plugins, with one handler each.
    pub(crate) left_by_plugins: i64,
}

pub(crate) fn answer(effort: Effort) -> Answer {
    const MANY: u32 = 1_000;
    let times = match effort {
        Effort::Full => 1_000_000,
        Effort::Smoke => 1_000,
    };
    let hooks = HookRegistry::new();
    let many = |one: fn(u32) -> Registration| {
        let group = (0..MANY).map(one);
        held(|| hooks.register(group).expect("they are registered")) / i64::from(MANY)
    };
    Answer {
        idle: held(HookRegistry::new),
        handler_alone: held(|| hooks.register_void::<Tell>(tell_ready).expect("it is registered")),
        handler: many(|_| on::<Tell>().handler(tell)),
        point: {
            let with_point = held(|| hooks.register(on::<Ask>().handler(ask)));
            with_point - held(|| hooks.register(on::<Ask>().handler(ask)))
        },
        plugin: many(|n| on::<Tell>().plugin(format!("plugin-{n}")).handler(tell)),
        times,
        left: left(times, |hooks| {
            hooks.register(on::<Tell>().handler(tell)).expect("it is registered").unregister();
        }),
        left_by_plugins: left(times, |hooks| {
            let owned = on::<Tell>().plugin("guest").handler(tell);
            drop(hooks.register(owned).expect("it is registered"));
            assert_eq!(hooks.unregister_plugin("guest").removed(), 1, "it was there");
        }),
    }
}

/// The bytes that the result of `make` and what it changed hold.
fn held<T>(make: impl FnOnce() -> T) -> i64 {
    let before = tally().live;
    // Kept until it is counted; the handles in it keep no handler.
    let _made = make();
    tally().live - before
}

/// The bytes that so many rounds leave behind, after those of the first few.
fn left(times: u32, round: impl Fn(&HookRegistry)) -> i64 {
    let hooks = HookRegistry::new();
    (0..100).for_each(|_| round(&hooks));
    let before = tally().live;
    (0..times).for_each(|_| round(&hooks));
    tally().live - before
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.times;
        let many = format!("left by {times} registrations and removals");
        let plugins = format!("left by {times} plugins that came and went");
        writeln!(f, "memory, in bytes on the heap")?;
        for (what, bytes) in [
            ("an idle registry", self.idle),
            ("the first point and handler of it", self.handler_alone),
            ("another point, without its handler", self.point),
            ("a handler more, of a thousand", self.handler),
            ("a plugin with a handler, of a thousand", self.plugin),
            (&*many, self.left),
            (&*plugins, self.left_by_plugins),
        ] {
            writeln!(f, "  {what:50} {bytes:8}")?;
        }
        Ok(())
    }
}
