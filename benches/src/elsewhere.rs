//! A thousand points that are never fired, for those that are to be measured
//! beside them. The build script writes them.

use std::io;
use std::time::Duration;

use hooks_runtime::operator::{BreakerSettings, RateLimit, TraceFilter, TraceLimit};
use hooks_runtime::record::Recorder;
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

/// Registers handlers there, with settings of an operator in use at each: a mode, a limit,
/// a breaker, and one that ends.
pub(crate) fn settings(hooks: &HookRegistry) {
    handlers(hooks, 8);
    let (operator, all) = (hooks.operator(), "elsewhere0:*");
    let settings = [
        operator.time_limit(all, Duration::from_secs(1)),
        operator.rate_limit(all, RateLimit::per_second(1_000)),
        operator.breaker(all, BreakerSettings::consecutive(5)),
        operator.sample(all, 0.5).until(Duration::from_hours(1)),
    ];
    for setting in settings {
        setting.apply().expect("it is applied");
    }
}

/// Traces the fires of one of them, for as long as the program runs.
pub(crate) fn trace(hooks: &HookRegistry) {
    handlers(hooks, 1);
    let elsewhere = TraceFilter::at::<Elsewhere0>();
    let trace = hooks.operator().trace(elsewhere, TraceLimit::count(1)).expect("it begins");
    std::mem::forget(trace);
}

/// Traces all fires, and ends that.
pub(crate) fn traced(hooks: &HookRegistry) {
    let all = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(1));
    drop(all.expect("it begins"));
}

/// Records the fires of one of them, for as long as the program runs.
pub(crate) fn recording(hooks: &HookRegistry) {
    handlers(hooks, 1);
    let elsewhere = Recorder::into_writer(io::sink()).only(Elsewhere0::NAME);
    std::mem::forget(elsewhere.start(hooks).expect("it begins"));
}

/// Records all fires, and ends that.
pub(crate) fn recorded(hooks: &HookRegistry) {
    drop(Recorder::into_writer(io::sink()).start(hooks).expect("it begins"));
}

/// A point has its place in a registry from the first question on.
fn touch<P: HookPoint>(hooks: &HookRegistry) {
    assert!(!hooks.has_handlers::<P>(), "the registry is new");
}
