//! Whose code is running (L19): a plugin cannot wait for itself, and nobody
//! else is taken for it.

mod support;

use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::{HookRegistry, hook_points, on};
use support::{Log, OnDrop, Spiky, keep_quiet, poll_once};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { thing: Spiky }
    /// Asks.
    pub claiming Ask(u32) -> Asks;
}

/// What comes of waiting for the plugin here.
fn waited(hooks: &Weak<HookRegistry>) -> &'static str {
    let removal = hooks.upgrade().unwrap().unregister_plugin("shed");
    match poll_once(std::pin::pin!(removal.drained())) {
        Poll::Pending => "waits",
        Poll::Ready(Err(_)) => "inside",
        Poll::Ready(Ok(())) => "nobody runs",
    }
}

/// How the plugin's answer is taken.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Limited,
    Suspended,
}

async fn built_in_behind(way: Way) -> Vec<String> {
    keep_quiet(&["spiky to the end"]);
    let (hooks, log) = (Arc::new(HookRegistry::new()), Log::new());
    let (known, seen) = (Arc::downgrade(&hooks), log.clone());
    let late = on::<Amend>().plugin("shed");
    let late =
        if matches!(way, Way::Limited) { late.timeout(Duration::from_secs(3600)) } else { late };
    let answers = async |way: &Way, _: &u32| {
        if matches!(way, Way::Suspended) {
            tokio::task::yield_now().await;
        }
        AmendResult { thing: Some(Spiky { sharp: true }) }
    };
    let first = |_: &u32| AmendResult { thing: Some(Spiky { sharp: false }) };
    let asks = move |_: &u32| {
        seen.push(waited(&known));
        None::<AmendResult>
    };
    let runs = async |_: &u32| std::future::pending::<()>().await;
    hooks
        .register([
            on::<Tell>().plugin("shed").handler(runs),
            on::<Amend>().handler(first),
            late.handler_with(way, answers),
            on::<Amend>().handler(asks),
        ])
        .unwrap();
    let mut other = Box::pin(hooks.fire_void::<Tell>(&1));
    assert!(poll_once(other.as_mut()).is_pending());
    let amended = hooks.fire_modifying::<Amend>(&1).await.unwrap();
    assert_eq!(amended.thing, Some(Spiky { sharp: false }));
    log.take()
}

#[tokio::test]
async fn l19_nobody_behind_a_panic_of_a_plugin_is_taken_for_it() {
    for way in [Way::Plain, Way::Limited, Way::Suspended] {
        assert_eq!(built_in_behind(way).await, ["waits"], "{way:?}");
    }
}

#[test]
fn l19_what_a_dropped_fire_drops_of_a_plugin_is_inside_it() {
    for limited in [false, true] {
        let (hooks, log) = (Arc::new(HookRegistry::new()), Log::new());
        let state = (Arc::downgrade(&hooks), log.clone());
        let on = on::<Tell>().plugin("shed");
        let on = if limited { on.timeout(Duration::from_secs(3600)) } else { on };
        let waits = async |(hooks, log): &(Weak<HookRegistry>, Log), _: &u32| {
            let _asks = OnDrop(|| log.push(waited(hooks)));
            std::future::pending::<()>().await;
        };
        hooks.register(on.handler_with(state, waits)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let mut fire = Box::pin(hooks.fire_void::<Tell>(&1));
        assert!(poll_once(fire.as_mut()).is_pending());
        drop(fire);
        assert_eq!(log.take(), ["inside"], "limited: {limited}");
    }
}

/// Waits for the plugin when it is dropped.
pub struct Asks(Weak<HookRegistry>, Log);

impl Drop for Asks {
    fn drop(&mut self) {
        self.1.push(waited(&self.0));
    }
}

#[tokio::test]
async fn l19_a_late_answer_of_a_plugin_is_dropped_inside_it() {
    let (hooks, log) = (Arc::new(HookRegistry::new()), Log::new());
    let (known, seen) = (Arc::downgrade(&hooks), log.clone());
    let late = move |_: &u32| {
        let since = std::time::Instant::now();
        while since.elapsed() <= Duration::from_millis(1) {
            std::hint::spin_loop();
        }
        Some(Asks(known.clone(), seen.clone()))
    };
    let limited = on::<Ask>().plugin("shed").timeout(Duration::from_millis(1));
    hooks.register(limited.handler(late)).unwrap();
    assert!(!hooks.fire_claiming::<Ask>(&1).await.unwrap().is_claimed());
    assert_eq!(log.take(), ["inside"]);
}
