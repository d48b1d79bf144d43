//! Registering, unregistering and firing from any thread, from inside a handler
//! and while things are dropped (L24).

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::registry::Handle;
use hooks_runtime::{HookRegistry, Plugins, hook_handlers, hook_points, on};
use support::{Count, Log, OnDrop, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// A wave.
    pub void Wave { n: u32 }
    /// Its echo.
    pub void Echo { n: u32 }
    /// Its colour and its height.
    pub modifying Shape { n: u32 } -> { colour: u32, height: u32 }
    /// Who catches it.
    pub claiming Catch { n: u32 } -> u32;
}

const WAVE: WavePayload = WavePayload { n: 1 };
const ECHO: EchoPayload = EchoPayload { n: 1 };
const SHAPE: ShapePayload = ShapePayload { n: 1 };
const CATCH: CatchPayload = CatchPayload { n: 1 };

#[tokio::test]
async fn l24_a_handler_may_register_unregister_and_fire() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let own: Arc<OnceLock<Handle>> = Arc::default();
    let state = (hooks.clone(), log.clone(), Arc::clone(&own));
    type State = (HookRegistry, Log, Arc<OnceLock<Handle>>);
    async fn busy((hooks, log, own): &State, _: &WavePayload) {
        log.push("busy");
        hooks.register(on::<Wave>().name("new").replace().handler(log.note("new"))).unwrap();
        hooks.register(on::<Echo>().name("echo").replace().handler(log.note("echo"))).unwrap();
        hooks.fire_void::<Echo>(&ECHO).await.unwrap();
        assert_eq!(own.get().unwrap().unregister().removed(), 1);
    }
    let handles = hooks.register(on::<Wave>().handler_with(state, busy)).unwrap();
    own.set(handles[0].clone()).unwrap();
    hooks.fire_void::<Wave>(&WAVE).await.unwrap();
    assert_eq!(log.take(), ["busy", "echo"], "who joins a fire under way waits for the next");
    hooks.fire_void::<Wave>(&WAVE).await.unwrap();
    assert_eq!(log.take(), ["new"]);
}

#[tokio::test]
async fn l24_who_is_unregistered_by_an_earlier_handler_does_not_start() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let later: Arc<OnceLock<Handle>> = Arc::default();
    let to_remove = Arc::clone(&later);
    let handles = hooks
        .register([
            on::<Catch>().handler(move |_: &CatchPayload| -> Option<u32> {
                to_remove.get().unwrap().unregister();
                None
            }),
            on::<Catch>().handler(move |_: &CatchPayload| {
                log.push("later");
                Some(1)
            }),
        ])
        .unwrap();
    later.set(handles[1].clone()).unwrap();
    assert!(!hooks.fire_claiming::<Catch>(&CATCH).await.unwrap().is_claimed());
}

#[test]
fn l24_many_threads_register_fire_and_unregister() {
    let hooks = HookRegistry::new();
    let start = std::sync::Barrier::new(4);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (hooks, start) = (&hooks, &start);
            threads.spawn(move || {
                start.wait();
                for round in 0..100 {
                    let plugin = format!("p{thread}-{round}");
                    let called = Count::default();
                    let counted = called.clone();
                    hooks
                        .register([
                            on::<Wave>()
                                .plugin(&*plugin)
                                .handler(move |_: &WavePayload| counted.add()),
                            on::<Echo>().plugin(&*plugin).handler(|_: &EchoPayload| ()),
                        ])
                        .unwrap();
                    block_on(hooks.fire_void::<Wave>(&WAVE)).unwrap();
                    assert!(called.get() >= 1, "its own fire sees what it registered");
                    let removal = hooks.unregister_plugin(&plugin);
                    assert_eq!(removal.removed(), 2);
                    block_on(removal.into_future()).into_result().unwrap();
                    let at_the_end = called.get();
                    block_on(hooks.fire_void::<Wave>(&WAVE)).unwrap();
                    assert_eq!(called.get(), at_the_end, "no fire calls it after the wait");
                }
            });
        }
    });
    assert!(!hooks.has_handlers::<Wave>() && !hooks.has_handlers::<Echo>());
}

struct Tide(u32);

#[hook_handlers(plugin = "tide")]
impl Tide {
    #[hook_handler(Shape)]
    fn colour(&self, _: &ShapePayload) -> ShapeResult {
        ShapeResult { colour: Some(self.0), height: None }
    }

    #[hook_handler(Shape)]
    fn height(&self, _: &ShapePayload) -> ShapeResult {
        ShapeResult { colour: None, height: Some(self.0) }
    }
}

#[test]
fn l24_every_fire_sees_one_version_of_a_plugin() {
    let hooks = HookRegistry::new();
    drop(hooks.install(Tide(0)).unwrap());
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let shape = block_on(hooks.fire_modifying::<Shape>(&SHAPE)).unwrap();
                    assert_eq!(shape.colour, shape.height, "half of each");
                    assert!(shape.colour.is_some(), "neither");
                }
            });
        }
        for version in 1..500 {
            drop(hooks.install_or_replace(Tide(version)).unwrap());
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Runs `work` in a thread of its own: a deadlock there fails the test instead
/// of hanging it.
fn ends(work: impl FnOnce() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    ended.recv_timeout(Duration::from_secs(10)).expect("it deadlocked, or it panicked");
}

/// A handler whose drop uses the registry in every way.
fn drops_into(hooks: &HookRegistry, log: &Log) -> impl Fn(&WavePayload) + Send + Sync + use<> {
    let (hooks, log) = (hooks.clone(), log.clone());
    let guard = OnDrop(move || {
        log.push("dropped");
        let handles = hooks.register(on::<Echo>().handler(|_: &EchoPayload| ())).unwrap();
        block_on(hooks.scope(Plugins::only(["any"])).fire_void::<Echo>(&ECHO)).unwrap();
        hooks.unregister_plugin("other");
        assert_eq!(handles.unregister().removed(), 1);
    });
    move |_| {
        let _held = &guard;
    }
}

#[test]
fn l24_a_handlers_drop_may_use_the_registry_when_it_is_unregistered() {
    ends(|| {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let handles = hooks.register(on::<Wave>().handler(drops_into(&hooks, &log))).unwrap();
        handles.unregister();
        assert_eq!(log.take(), ["dropped"]);
    });
}

#[test]
fn l24_a_handlers_drop_may_use_the_registry_when_its_plugin_leaves() {
    ends(|| {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks.register(on::<Wave>().plugin("sea").handler(drops_into(&hooks, &log))).unwrap();
        hooks.unregister_plugin("sea");
        assert_eq!(log.take(), ["dropped"]);
    });
}

#[test]
fn l24_a_handlers_drop_may_use_the_registry_when_it_is_replaced() {
    ends(|| {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks.register(on::<Wave>().name("surf").handler(drops_into(&hooks, &log))).unwrap();
        let after = on::<Wave>().name("surf").replace().handler(|_: &WavePayload| ());
        drop(hooks.register(after).unwrap());
        assert_eq!(log.take(), ["dropped"]);
    });
}

#[test]
fn l24_a_handlers_drop_may_use_the_registry_when_it_is_refused() {
    ends(|| {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        hooks.register(on::<Wave>().name("surf").handler(|_: &WavePayload| ())).unwrap();
        let again = on::<Wave>().name("surf").handler(drops_into(&hooks, &log));
        hooks.register(again).unwrap_err();
        assert_eq!(log.take(), ["dropped"]);
    });
}

#[test]
fn l24_a_handlers_drop_may_use_its_handle_while_the_registry_is_dropped() {
    ends(|| {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let own: Arc<OnceLock<Handle>> = Arc::default();
        let (noted, handle) = (log.clone(), Arc::clone(&own));
        let guard = OnDrop(move || {
            let removal = handle.get().unwrap().unregister();
            noted.push(format!("removed: {}", removal.removed()));
        });
        let handles = hooks
            .register(on::<Wave>().handler(move |_: &WavePayload| {
                let _held = &guard;
            }))
            .unwrap();
        own.set(handles[0].clone()).unwrap();
        drop(hooks);
        assert_eq!(log.take(), ["removed: 0"]);
    });
}

#[tokio::test(start_paused = true)]
async fn l24_a_fire_outlives_the_hosts_registry() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let held = Arc::new(Notify::new());
    let waits = async |held: &Arc<Notify>, _: &WavePayload| held.notified().await;
    hooks.register_void_with::<Wave, _>(Arc::clone(&held), waits).unwrap();
    hooks.register(on::<Wave>().handler(log.note("called"))).unwrap();
    let turn = hooks.scope(Plugins::BuiltIn);
    let mut fire = Box::pin(async move { turn.fire_void::<Wave>(&WAVE).await });
    assert!(poll_once(fire.as_mut()).is_pending());
    drop(hooks);
    held.notify_one();
    soon(fire).await.unwrap();
    assert_eq!(log.take(), ["called"]);
}
