//! No failure is silent (L20): each is counted.

use hooks_runtime::{HookRegistry, hook_points, on};

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
