//! A wait for a plugin is not over while what it captured is being dropped (L19),
//! whichever thread does it, by whatever way the handler left the registry.

mod support;

use std::future::pending;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use hooks_runtime::plugin::Installed;
use hooks_runtime::{
    FlowContext, HookRegistry, OnError, Registration, hook_handlers, hook_points, on,
};
use support::{Count, Log, OnDrop, Spiky, drained, keep_quiet, poll_once};

hook_points! {
    /// A wheel turns.
    pub void Turn(u32);
    /// One grinding, stage by stage.
    pub flow Grind(u32) -> u32;
}

/// Says when it begins to be dropped, and goes on when it may.
struct Slow {
    begins: Sender<()>,
    goes_on: Mutex<Receiver<()>>,
    dropped: Count,
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.begins.send(()).unwrap();
        self.goes_on.lock().unwrap().recv().unwrap();
        self.dropped.add();
    }
}

/// What a test knows of one.
struct Watch {
    has_begun: Receiver<()>,
    goes_on: Sender<()>,
    dropped: Count,
}

fn slow() -> (Slow, Watch) {
    let ((begins, has_begun), (goes_on, may_go_on)) = (channel(), channel());
    let dropped = Count::default();
    let slow = Slow { begins, goes_on: may_go_on.into(), dropped: dropped.clone() };
    (slow, Watch { has_begun, goes_on, dropped })
}

/// Runs `drops` on another thread, in which the value is dropped; the wait for the
/// plugin is over when the drop has returned, and not before.
fn waits_for_the_drop(hooks: &HookRegistry, watch: &Watch, drops: impl FnOnce() + Send) {
    thread::scope(|threads| {
        let dropping = threads.spawn(drops);
        watch.has_begun.recv().unwrap();
        let removal = hooks.unregister_plugin("mill");
        let mut drained = Box::pin(drained(&removal));
        let is_drained = poll_once(drained.as_mut());
        watch.goes_on.send(()).unwrap();
        assert!(is_drained.is_pending(), "its drop has only begun");
        futures::executor::block_on(drained).unwrap();
        assert_eq!(watch.dropped.get(), 1);
        dropping.join().unwrap();
        assert_eq!(watch.dropped.get(), 1);
    });
}

fn turns(slow: Slow) -> Registration {
    on::<Turn>().plugin("mill").name("turns").handler_with(slow, |_: &Slow, _: &u32| ())
}

#[test]
fn l19_a_removed_handler_is_waited_for_until_its_drop_has_returned() {
    let (hooks, (slow, watch)) = (HookRegistry::new(), slow());
    let handle = hooks.register(turns(slow)).unwrap();
    waits_for_the_drop(&hooks, &watch, || assert_eq!(handle.unregister().removed(), 1));
}

#[test]
fn l19_a_replaced_handler_is_waited_for_until_its_drop_has_returned() {
    let (hooks, (slow, watch)) = (HookRegistry::new(), slow());
    hooks.register(turns(slow)).unwrap();
    waits_for_the_drop(&hooks, &watch, || {
        let new = on::<Turn>().plugin("mill").name("turns").replace();
        hooks.register(new.handler(|_: &u32| ())).unwrap();
    });
}

/// A fire that has another call pending keeps the list, and is the last.
#[test]
fn l19_a_replaced_handler_that_goes_with_a_fire_is_waited_for() {
    let (hooks, (slow, watch)) = (HookRegistry::new(), slow());
    let endless = async |_: &u32| pending::<()>().await;
    hooks.register([turns(slow), on::<Turn>().handler(endless)]).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Turn>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    let new = on::<Turn>().plugin("mill").name("turns").replace();
    hooks.register(new.handler(|_: &u32| ())).unwrap();
    waits_for_the_drop(&hooks, &watch, || drop(fire));
}

/// A plugin whose value is dropped slowly.
struct Mill(#[allow(dead_code)] Slow);

#[hook_handlers(plugin = "mill")]
impl Mill {
    #[hook_handler(Turn)]
    fn turn(&self, _: &u32) {}

    #[hook_handler(OnError<Grind>)]
    fn stop(&self, _: &mut FlowContext<Grind>) {}
}

/// A plugin that takes the id of the other.
struct Successor;

#[hook_handlers(plugin = "mill")]
impl Successor {
    #[hook_handler(Turn)]
    fn turn(&self, _: &u32) {}
}

#[test]
fn l19_a_replaced_version_is_waited_for_until_the_drop_of_its_value_has_returned() {
    let (hooks, (slow, watch)) = (HookRegistry::new(), slow());
    // The host lets go of it: the handlers have the value.
    drop(hooks.install(Mill(slow)).unwrap());
    waits_for_the_drop(&hooks, &watch, || {
        let _successor: Installed = hooks.install_or_replace(Successor).unwrap();
    });
}

/// The value's own drop panics: contained where the host drops the last reference.
#[tokio::test]
async fn l19_a_value_whose_drop_panics_is_uninstalled() {
    struct Sharp(Spiky, #[allow(dead_code)] OnDrop<Box<dyn FnMut() + Send + Sync>>);

    #[hook_handlers(plugin = "mill")]
    impl Sharp {
        #[hook_handler(Turn)]
        fn turn(&self, _: &u32) {
            assert!(self.0.sharp);
        }
    }

    keep_quiet(&["spiky to the end"]);
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let seen = log.clone();
    let goes = OnDrop(Box::new(move || seen.push("gone")) as Box<dyn FnMut() + Send + Sync>);
    let mill = hooks.install(Sharp(Spiky { sharp: true }, goes)).unwrap();
    hooks.fire_void::<Turn>(&1).await.unwrap();
    assert_eq!(mill.uninstall().await.into_result(), Ok(()));
    assert_eq!(log.take(), ["gone"]);
}
