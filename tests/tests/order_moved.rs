//! Where handlers stand beside those that constraints of plugins moved (L04).

use hooks_runtime::handler::On;
use hooks_runtime::plugin::Quota;
use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    /// Something passes by.
    pub void Tick(u32);
}

/// Adds a handler of the host, or of a plugin as `plugin/handler`.
#[track_caller]
fn add(hooks: &HookRegistry, name: &str, priority: i32, with: impl FnOnce(On<Tick>) -> On<Tick>) {
    let place = match name.split_once('/') {
        None => on::<Tick>().name(name),
        Some((plugin, name)) => on::<Tick>().name(name).plugin(plugin),
    };
    hooks.register(with(place.priority(priority)).handler(|_: &u32| ())).unwrap();
}

/// The handlers in order, those of plugins as `plugin/handler`.
fn order(hooks: &HookRegistry) -> Vec<String> {
    let name = |info: &hooks_runtime::registry::HandlerInfo| match info.owner.plugin() {
        None => info.name.to_string(),
        Some(plugin) => format!("{plugin}/{}", info.name),
    };
    hooks.handlers_at::<Tick>().iter().map(name).collect()
}

/// `follows` stands behind what its target left, not behind where that went.
#[test]
fn l04_a_handler_that_follows_one_that_moved_keeps_its_place_among_later_ones() {
    let hooks = HookRegistry::new();
    add(&hooks, "lamp", 3, |on| on);
    add(&hooks, "kiln/moved", 5, |on| on.before("lamp"));
    add(&hooks, "follows", 0, |on| on.after("kiln/moved"));
    assert_eq!(order(&hooks), ["kiln/moved", "lamp", "follows"]);
    add(&hooks, "later", 4, |on| on);
    assert_eq!(order(&hooks), ["kiln/moved", "lamp", "later", "follows"]);
}

/// What moved behind `lamp` counts where it would stand without its constraints, and
/// `lamp` itself is not passed.
#[test]
fn l04_a_place_behind_one_below_the_range_is_inside_it() {
    let hooks = HookRegistry::new();
    hooks.set_quota("guest", Quota::new().priorities(100..=200)).unwrap();
    add(&hooks, "lamp", 50, |on| on);
    add(&hooks, "mill/late", 1, |on| on.after("lamp"));
    add(&hooks, "kiln/mid", 150, |on| on.before("mill/late"));
    add(&hooks, "guest/ahead", 160, |on| on.before("kiln/mid"));
    assert_eq!(order(&hooks), ["lamp", "guest/ahead", "kiln/mid", "mill/late"]);
    assert_eq!(hooks.audit().dropped.len(), 0);
}
