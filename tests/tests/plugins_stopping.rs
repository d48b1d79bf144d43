//! The `#[stop]` of a plugin, where several wait for it, let go of it, or remove
//! one generation beside another (L19, L20).

mod support;

use std::future::{IntoFuture, pending};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::plugin::{DrainError, StopFailure};
use hooks_runtime::registry::Owner;
use hooks_runtime::{HookRegistry, PluginId, hook_handlers, hook_points};
use support::{Log, keep_quiet, poll_once};
use tokio::sync::Notify;

hook_points! {
    pub void Saved { page: u32 }
}

const SAVED: SavedPayload = SavedPayload { page: 1 };

fn failed(plugin: &str, failure: StopFailure) -> Result<(), DrainError> {
    let plugin = Owner::Plugin(PluginId::new(plugin).expect("a plugin's id"));
    Err(DrainError::StopFailed { plugin, failure })
}

/// Says when it is called, when it returns and when it is stopped.
struct Numbered {
    number: u32,
    gate: Arc<Notify>,
    log: Log,
}

#[hook_handlers(plugin = "numbered")]
impl Numbered {
    #[hook_handler(Saved)]
    async fn saved(&self, _: &SavedPayload) {
        self.log.push(format!("{} called", self.number));
        self.gate.notified().await;
        self.log.push(format!("{} returns", self.number));
    }

    #[stop]
    async fn stop(&self) {
        self.log.push(format!("{} stopped", self.number));
    }
}

#[tokio::test]
async fn l19_a_removal_runs_no_stop_of_a_later_generation() {
    let (hooks, log, gate) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
    let numbered = |number| Numbered { number, gate: Arc::clone(&gate), log: log.clone() };
    let first = hooks.install(numbered(1)).unwrap();
    hooks.unregister_plugin("numbered").await.into_result().unwrap();
    let second = hooks.install(numbered(2)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Saved>(&SAVED));
    assert!(poll_once(fire.as_mut()).is_pending());
    let second = second.uninstall();
    // It was removed by its name before.
    first.uninstall().await.into_result().unwrap();
    log.push("the first is gone");
    gate.notify_one();
    fire.await.unwrap();
    second.await.into_result().unwrap();
    assert_eq!(
        log.take(),
        ["1 stopped", "2 called", "the first is gone", "2 returns", "2 stopped"]
    );
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Stops when it is let.
struct Slow(Arc<Notify>);

#[hook_handlers(plugin = "slow")]
impl Slow {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    async fn stop(&self) {
        self.0.notified().await;
    }
}

#[test]
fn l19_a_stop_wakes_every_wait_for_it() {
    let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
    hooks.install(Slow(Arc::clone(&gate))).unwrap();
    let removals = [hooks.unregister_plugin("slow"), hooks.unregister_plugin("slow")];
    let flags = [(); 2].map(|()| Arc::new(Flag(AtomicBool::new(false))));
    let [first, second] = [&flags[0], &flags[1]].map(|flag| Waker::from(Arc::clone(flag)));
    let mut waiting = (&removals[0]).into_future();
    // Polled once, after the other, and then kept.
    let mut kept = (&removals[1]).into_future();
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
    assert!(kept.as_mut().poll(&mut Context::from_waker(&second)).is_pending());
    flags[0].0.store(false, Ordering::SeqCst);
    gate.notify_one();
    assert!(flags[0].0.load(Ordering::SeqCst), "it is woken, though it did not poll last");
    let polled = waiting.as_mut().poll(&mut Context::from_waker(&first));
    assert_eq!(polled.map(|outcome| outcome.into_result()), Poll::Ready(Ok(())));
}

/// Says that it is being dropped, and goes on when it is let.
struct SlowDrop {
    begun: Sender<()>,
    go: Mutex<Receiver<()>>,
    dropped: Arc<AtomicBool>,
}

impl Drop for SlowDrop {
    fn drop(&mut self) {
        self.begun.send(()).unwrap();
        self.go.lock().unwrap().recv().unwrap();
        self.dropped.store(true, Ordering::SeqCst);
    }
}

#[hook_handlers(plugin = "slow_drop")]
impl SlowDrop {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    async fn stop(&self) {
        pending::<()>().await;
    }
}

/// A plugin whose drop another thread is in, and what lets that go on.
struct BeingDropped {
    begins: Receiver<()>,
    go: Sender<()>,
    dropped: Arc<AtomicBool>,
}

fn slow_drop() -> (SlowDrop, BeingDropped) {
    let ((begun, begins), (go, goes)) = (channel(), channel());
    let dropped = Arc::new(AtomicBool::new(false));
    let plugin = SlowDrop { begun, go: Mutex::new(goes), dropped: Arc::clone(&dropped) };
    (plugin, BeingDropped { begins, go, dropped })
}

/// The wait is under way while the value is dropped elsewhere, and over after that.
fn assert_waits(
    waiting: impl IntoFuture<Output = hooks_runtime::plugin::DrainOutcome>,
    drop: &BeingDropped,
) {
    let mut waiting = Box::pin(waiting.into_future());
    assert!(poll_once(waiting.as_mut()).is_pending(), "the value is still being dropped");
    drop.go.send(()).unwrap();
    assert!(block_on(waiting).is_drained());
    assert!(drop.dropped.load(Ordering::SeqCst), "the drop has returned");
}

#[test]
fn l19_the_wait_lasts_until_a_stop_that_another_let_go_of_is_dropped() {
    for has_begun in [false, true] {
        let (plugin, dropping) = slow_drop();
        let hooks = HookRegistry::new();
        let installed = hooks.install(plugin).unwrap();
        let removal = hooks.unregister_plugin("slow_drop");
        let other = std::thread::spawn(move || {
            let mut waiting = removal.into_future();
            if has_begun {
                assert!(poll_once(waiting.as_mut()).is_pending());
            }
            drop(waiting);
        });
        dropping.begins.recv().unwrap();
        assert_waits(installed.uninstall(), &dropping);
        other.join().unwrap();
    }
}

#[test]
fn l19_the_wait_lasts_until_a_plugin_is_dropped_with_its_registry() {
    let (plugin, dropping) = slow_drop();
    let hooks = HookRegistry::new();
    let installed = hooks.install(plugin).unwrap();
    let last = std::thread::spawn(move || drop(hooks));
    dropping.begins.recv().unwrap();
    assert_waits(installed.uninstall(), &dropping);
    last.join().unwrap();
}

#[tokio::test]
async fn l19_a_plugin_whose_registry_is_gone_has_no_deadline_to_miss() {
    let hooks = HookRegistry::new();
    let installed = hooks.install(Slow(Arc::default())).unwrap();
    drop(hooks);
    assert_eq!(installed.uninstall().within(Duration::from_secs(1)).await, Ok(()));
}

/// Panics in its drop, and may fail to stop.
struct Fragile {
    fails: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        panic!("dropped badly");
    }
}

#[hook_handlers(plugin = "fragile")]
impl Fragile {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    async fn stop(&self) -> Result<(), String> {
        if self.fails { Err("the file could not be flushed".to_owned()) } else { Ok(()) }
    }
}

#[tokio::test]
async fn l20_a_panic_in_the_drop_of_a_plugin_is_no_failure_of_its_stop() {
    keep_quiet(&["dropped badly"]);
    let hooks = HookRegistry::new();
    let stopped = hooks.install(Fragile { fails: false }).unwrap().uninstall().await;
    assert_eq!(stopped.into_result(), Ok(()));
    let stopped = hooks.install(Fragile { fails: true }).unwrap().uninstall().await;
    let error = StopFailure::Error("the file could not be flushed".to_owned());
    assert_eq!(stopped.into_result(), failed("fragile", error));
}

/// Fails to stop.
struct Failing;

#[hook_handlers(plugin = "failing")]
impl Failing {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    fn stop(&self) -> Result<(), String> {
        Err("no".to_owned())
    }
}

#[tokio::test]
async fn l20_every_wait_gets_the_failure_of_a_stop() {
    let hooks = HookRegistry::new();
    let removal = hooks.install(Failing).unwrap().uninstall();
    let failure = failed("failing", StopFailure::Error("no".to_owned()));
    assert_eq!(removal.within(Duration::from_secs(1)).await, failure);
    assert_eq!(removal.within(Duration::from_secs(1)).await, failure);
    assert_eq!((&removal).await.into_result(), failure);
}

/// Fails to stop, or waits for itself in its stop.
struct Generation {
    hooks: Option<HookRegistry>,
    log: Log,
}

#[hook_handlers(plugin = "generation")]
impl Generation {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    async fn stop(&self) -> Result<(), String> {
        let Some(hooks) = &self.hooks else { return Err("the first failed".to_owned()) };
        let outcome = hooks.unregister_plugin("generation").await;
        self.log.push(format!("drained {}, {:?}", outcome.is_drained(), outcome.into_result()));
        Ok(())
    }
}

#[tokio::test]
async fn l19_a_failed_stop_hides_no_wait_for_itself() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.install(Generation { hooks: None, log: log.clone() }).unwrap();
    let first = hooks.unregister_plugin("generation");
    hooks.install(Generation { hooks: Some(hooks.clone()), log: log.clone() }).unwrap();
    hooks.unregister_plugin("generation").await.into_result().unwrap_err();
    first.await.into_result().unwrap_err();
    let plugin = Owner::Plugin(PluginId::new("generation").unwrap());
    let inside = DrainError::Inside { plugin };
    assert_eq!(log.take(), [format!("drained false, {:?}", Err::<(), _>(inside))]);
}
