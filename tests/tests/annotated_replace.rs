//! `replace` in the attribute (L18).

use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};

hook_points! {
    /// A page turns.
    pub claiming Turn { n: u32 } -> u32;
}

#[hook_handler(Turn, name = "reader")]
fn first(_: &TurnPayload) -> Option<u32> {
    Some(1)
}

#[hook_handler(Turn)]
fn other(_: &TurnPayload) -> Option<u32> {
    Some(0)
}

#[hook_handler(Turn, name = "reader", replace)]
fn second(_: &TurnPayload) -> Option<u32> {
    Some(2)
}

#[tokio::test]
async fn l18_replace_is_a_key_of_the_attribute() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![first, other]).unwrap();
    hooks.register(handlers![second]).unwrap();
    let names: Vec<_> = hooks.handlers_at::<Turn>().iter().map(|h| h.name.to_string()).collect();
    assert_eq!(names, ["reader", "other"]);
    let claim = hooks.fire_claiming::<Turn>(&TurnPayload { n: 1 }).await.unwrap();
    assert_eq!(claim.claimed(), Some(2));
}
