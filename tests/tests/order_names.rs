//! What the text of a constraint names (L04).

use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    /// Rings.
    pub void Ring(u32);
}

/// The name of a handler without a name ends in a line, a column and perhaps a
/// number, and has a `/` that stands between folders.
#[test]
fn l04_a_name_that_is_nearly_a_place_is_one_of_a_plugin() {
    for name in ["lamp:oil", "lamp:3", "lamp:oil:3", "lamp:3:oil", "lamp:3:4#oil", "lamp#3"] {
        let hooks = HookRegistry::new();
        let named = on::<Ring>().plugin("shed").name(name).priority(9);
        hooks.register(named.handler(|_: &u32| ())).unwrap();
        let asks = on::<Ring>().name("asks").after(format!("shed/{name}"));
        hooks.register(asks.handler(|_: &u32| ())).unwrap();
        let order = hooks.handlers_at::<Ring>();
        let order: Vec<_> = order.iter().map(|info| &*info.name).collect();
        assert_eq!(order, [name, "asks"]);
    }
}
