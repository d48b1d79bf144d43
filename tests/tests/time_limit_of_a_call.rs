//! A handler can ask how long its fire waits for it.

use std::time::Duration;

use hooks_runtime::{HookContext, HookRegistry, hook_points, on};

hook_points! {
    pub void Asked { n: u32 }
    pub claiming Limit(u32) -> Option<Duration>;
}

const SECOND: Duration = Duration::from_secs(1);

/// L35: its own limit, that of the registry, or the shorter one of an operator, and what is
/// set holds for that handler alone and as long as it is set.
#[tokio::test]
async fn l35_a_call_knows_the_limit_that_holds_for_it() {
    for (builder, own, expected) in [
        (None, None, None),
        (None, Some(9 * SECOND), Some(9 * SECOND)),
        (Some(20 * SECOND), None, Some(20 * SECOND)),
        (Some(20 * SECOND), Some(9 * SECOND), Some(9 * SECOND)),
    ] {
        let mut registry = HookRegistry::builder();
        if let Some(limit) = builder {
            registry = registry.timeout(limit);
        }
        let hooks = registry.build();
        let mut asked = on::<Limit>().name("asked");
        if let Some(limit) = own {
            asked = asked.timeout(limit);
        }
        let ask = |n: &u32, cx: &HookContext| (*n == 1).then(|| cx.time_limit());
        hooks.register(asked.handler(ask)).unwrap();
        let fire = async || hooks.fire_claiming::<Limit>(&1).await.unwrap().claimed();
        assert_eq!(fire().await, Some(expected));
        let setting = hooks.operator().time_limit("limit:asked", SECOND).apply().unwrap();
        assert_eq!(fire().await, Some(Some(SECOND)));
        hooks.operator().clear(setting.id()).unwrap();
        assert_eq!(fire().await, Some(expected));
    }
}

/// L35: of two handlers of one fire each has its own.
#[tokio::test]
async fn l35_a_shorter_limit_is_that_of_one_handler() {
    let hooks = HookRegistry::new();
    let (sender, heard) = std::sync::mpsc::channel();
    for name in ["first", "second", "third"] {
        let sender = sender.clone();
        let ask = move |_: &AskedPayload, cx: &HookContext| {
            sender.send((name, cx.time_limit())).unwrap();
        };
        hooks.register(on::<Asked>().name(name).timeout(5 * SECOND).handler(ask)).unwrap();
    }
    hooks.operator().time_limit("asked:second", SECOND).apply().unwrap();
    hooks.fire_void::<Asked>(&AskedPayload { n: 1 }).await.unwrap();
    let heard: Vec<_> = heard.try_iter().collect();
    let limits = [("first", 5 * SECOND), ("second", SECOND), ("third", 5 * SECOND)];
    assert_eq!(heard, limits.map(|(name, limit)| (name, Some(limit))));
}
