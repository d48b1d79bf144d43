//! A handler can ask how long its fire waits for it.

use std::time::Duration;

use std::sync::mpsc::Sender;

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

const KINDS: [&str; 4] = ["plain", "limited", "shortened", "shadowed"];

/// What a handler hears: whether it is in shadow, and its limit.
type Heard = (&'static str, bool, Option<Duration>);

fn expected(kind: &'static str) -> Heard {
    let limit = match kind {
        "plain" => None,
        "shortened" => Some(SECOND),
        _ => Some(9 * SECOND),
    };
    (kind, kind == "shadowed", limit)
}

async fn asks(
    (kind, sender): &(&'static str, Sender<Heard>),
    _: &u32,
    cx: &HookContext,
) -> Option<Option<Duration>> {
    sender.send((*kind, cx.is_in_shadow(), cx.time_limit())).unwrap();
    tokio::task::yield_now().await;
    sender.send((*kind, cx.is_in_shadow(), cx.time_limit())).unwrap();
    None
}

/// L35, L36: what is set for one handler is not heard by the next, whatever their order, whether
/// they wait, and whether the fire has a report.
#[tokio::test]
async fn l35_what_is_set_for_a_handler_is_heard_by_no_other() {
    for number in 0..24 {
        let (mut left, mut order, mut rest) = (KINDS.to_vec(), Vec::new(), number);
        for count in (1..=4).rev() {
            order.push(left.remove(rest % count));
            rest /= count;
        }
        for waits in [false, true] {
            let (sender, heard) = std::sync::mpsc::channel();
            let hooks = HookRegistry::new();
            for kind in order.iter().copied() {
                let mut on = on::<Limit>().name(kind);
                if kind != "plain" {
                    on = on.timeout(9 * SECOND);
                }
                let with = (kind, sender.clone());
                hooks
                    .register(if waits {
                        on.handler_with(with, asks)
                    } else {
                        on.handler(move |_: &u32, cx: &HookContext| {
                            let (kind, sender) = &with;
                            sender.send((*kind, cx.is_in_shadow(), cx.time_limit())).unwrap();
                            None::<Option<Duration>>
                        })
                    })
                    .unwrap();
            }
            let operator = hooks.operator();
            operator.time_limit("limit:shortened", SECOND).apply().unwrap();
            operator.shadow("limit:shadowed").apply().unwrap();
            let times = if waits { 2 } else { 1 };
            let expected: Vec<_> =
                order.iter().flat_map(|kind| vec![expected(kind); times]).collect();
            assert!(!hooks.fire_claiming::<Limit>(&1).await.unwrap().is_claimed());
            assert_eq!(heard.try_iter().collect::<Vec<_>>(), expected, "{order:?}");
            let (claim, _) = hooks.fire_claiming_reported::<Limit>(&1).await;
            assert!(!claim.unwrap().is_claimed());
            assert_eq!(heard.try_iter().collect::<Vec<_>>(), expected, "{order:?}, reported");
        }
    }
}
