//! A thousand points that are never fired, for those that are to be measured
//! beside them. The build script writes them.

use hooks_runtime::{HookPoint, HookRegistry, on};

use crate::points::{TellPayload, tell};

include!(concat!(env!("OUT_DIR"), "/elsewhere.rs"));

/// Makes all of them known to a registry, with a handler at the first and the
/// last of them.
pub(crate) fn points(hooks: &HookRegistry) {
    for touch in EACH {
        touch(hooks);
    }
    let ends = [on::<Elsewhere0>().handler(tell), on::<Elsewhere999>().handler(tell)];
    hooks.register(ends).expect("they are registered");
}

/// Registers so many handlers at one of them.
pub(crate) fn handlers(hooks: &HookRegistry, count: usize) {
    let handlers = (0..count).map(|_| on::<Elsewhere0>().handler(tell));
    hooks.register(handlers).expect("they are registered");
}

/// Registers so many plugins, with a handler each at one of them.
pub(crate) fn plugins(hooks: &HookRegistry, count: usize) {
    let owned = |n| on::<Elsewhere0>().plugin(format!("plugin-{n}")).handler(tell);
    hooks.register((0..count).map(owned)).expect("they are registered");
}

/// A point has its place in a registry from the first question on.
fn touch<P: HookPoint>(hooks: &HookRegistry) {
    assert!(!hooks.has_handlers::<P>(), "the registry is new");
}
