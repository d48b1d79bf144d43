//! No failure is silent (L20): each is counted.

use std::sync::{Arc, Mutex};

use hooks_runtime::{HookRegistry, Plugins, hook_points, on};

hook_points! {
    /// Tells.
    pub void Tell { n: u32 }
}

#[tokio::test]
async fn l20_failures_are_counted_beside_calls() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Tell>().name("odd").handler(
                |tell: &TellPayload| {
                    if tell.n % 2 == 1 { Err("odd") } else { Ok(()) }
                },
            ),
            on::<Tell>().name("fine").handler(|_: &TellPayload| ()),
        ])
        .unwrap();
    for n in 0..5 {
        hooks.fire_void::<Tell>(&TellPayload { n }).await.unwrap();
    }
    let counts: Vec<_> = hooks
        .handlers_at::<Tell>()
        .iter()
        .map(|handler| (handler.name.to_string(), handler.calls, handler.failures))
        .collect();
    assert_eq!(counts, [("odd".to_owned(), 5, 2), ("fine".to_owned(), 5, 0)]);
}

/// A handler that is left out counts as not called, also while the fire goes on.
#[tokio::test]
async fn l22_a_look_from_inside_a_fire_is_never_below_zero() {
    let (hooks, seen) = (HookRegistry::new(), Arc::new(Mutex::new(Vec::new())));
    let (inside, saw) = (hooks.clone(), Arc::clone(&seen));
    hooks
        .register([
            on::<Tell>().name("guest").plugin("tower").handler(|_: &TellPayload| ()),
            on::<Tell>().name("looks").handler(move |_: &TellPayload| {
                saw.lock().unwrap().push(inside.handlers_at::<Tell>()[0].calls);
            }),
        ])
        .unwrap();
    let alone = hooks.scope(Plugins::BuiltIn);
    for n in 0..2 {
        alone.fire_void::<Tell>(&TellPayload { n }).await.unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), [0, 0]);
    assert_eq!(hooks.handlers_at::<Tell>()[0].calls, 0);
}
