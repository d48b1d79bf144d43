//! The awaited removal waits for every handler of the plugin that runs (L19),
//! by whatever way that handler left the registry.

mod support;

use std::sync::Arc;

use hooks_runtime::{HookRegistry, hook_handlers, hook_points, on};
use support::{poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// A wheel turns.
    pub void Turn { n: u32 }
}

const TURN: TurnPayload = TurnPayload { n: 1 };

async fn stalls(stall: &Arc<Notify>, _: &TurnPayload) {
    stall.notified().await;
}

struct Mill(Arc<Notify>);

#[hook_handlers(plugin = "mill")]
impl Mill {
    #[hook_handler(Turn)]
    async fn grind(&self, _: &TurnPayload) {
        self.0.notified().await;
    }
}

/// A block without a plugin: built-in.
struct Brake(Arc<Notify>);

#[hook_handlers]
impl Brake {
    #[hook_handler(Turn)]
    async fn hold(&self, _: &TurnPayload) {
        self.0.notified().await;
    }
}

#[tokio::test(start_paused = true)]
async fn l19_the_wait_includes_a_handler_that_was_unregistered_before() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Notify::new()));
    let handles = hooks
        .register([
            on::<Turn>().plugin("mill").name("grind").handler_with(Arc::clone(&stall), stalls),
            on::<Turn>().plugin("mill").name("rest").handler(|_: &TurnPayload| ()),
        ])
        .unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&TURN));
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(handles[0].unregister().removed(), 1);
    let removal = hooks.unregister_plugin("mill");
    assert!(poll_once((&removal).into_future().as_mut()).is_pending(), "grind still runs");
    stall.notify_one();
    soon(fire).await.unwrap();
    soon((&removal).into_future()).await.into_result().unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_the_wait_includes_a_handler_that_was_replaced() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Notify::new()));
    let grind = || on::<Turn>().plugin("mill").name("grind");
    hooks.register(grind().handler_with(Arc::clone(&stall), stalls)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&TURN));
    assert!(poll_once(fire.as_mut()).is_pending());
    hooks.register(grind().replace().handler(|_: &TurnPayload| ())).unwrap();
    let removal = hooks.unregister_plugin("mill");
    assert!(poll_once((&removal).into_future().as_mut()).is_pending(), "the old grind runs");
    stall.notify_one();
    soon(fire).await.unwrap();
    soon((&removal).into_future()).await.into_result().unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_a_second_removal_waits_as_the_first_does() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Notify::new()));
    let grind = on::<Turn>().plugin("mill").name("grind");
    hooks.register(grind.handler_with(Arc::clone(&stall), stalls)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&TURN));
    assert!(poll_once(fire.as_mut()).is_pending());
    let first = hooks.unregister_plugin("mill");
    let second = hooks.unregister_plugin("mill");
    assert_eq!((first.removed(), second.removed()), (1, 0));
    assert!(poll_once((&first).into_future().as_mut()).is_pending());
    assert!(poll_once((&second).into_future().as_mut()).is_pending(), "grind still runs");
    stall.notify_one();
    soon(fire).await.unwrap();
    soon((&second).into_future()).await.into_result().unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_a_version_that_was_replaced_is_waited_for() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Notify::new()));
    let first = hooks.install(Mill(Arc::clone(&stall))).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&TURN));
    assert!(poll_once(fire.as_mut()).is_pending());
    let second = hooks.install_or_replace(Mill(Arc::clone(&stall))).unwrap();
    let mut uninstall = first.uninstall().into_future();
    assert!(poll_once(uninstall.as_mut()).is_pending(), "its handler still runs");
    stall.notify_one();
    soon(fire).await.unwrap();
    soon(uninstall).await.into_result().unwrap();
    soon(second.uninstall().into_future()).await.into_result().unwrap();
}

#[tokio::test(start_paused = true)]
async fn l19_a_built_in_block_is_waited_for_too() {
    let (hooks, stall) = (HookRegistry::new(), Arc::new(Notify::new()));
    let brake = hooks.install(Brake(Arc::clone(&stall))).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&TURN));
    assert!(poll_once(fire.as_mut()).is_pending());
    let mut uninstall = brake.uninstall().into_future();
    let waited = poll_once(uninstall.as_mut()).is_pending();
    assert!(!hooks.has_handlers::<Turn>());
    assert!(waited, "its handler still runs");
    stall.notify_one();
    soon(fire).await.unwrap();
    soon(uninstall).await.into_result().unwrap();
}
