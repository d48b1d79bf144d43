//! Whose code is running (L19): a plugin cannot wait for itself, and no other
//! plugin is taken for it.

mod support;

use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::{HookRegistry, hook_points, on};
use support::{Log, OnDrop, Spiky, keep_quiet, poll_once};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { thing: Spiky }
    /// Asks.
    pub claiming Ask(u32) -> ();
}

/// What comes of waiting for the plugin here.
fn waited(hooks: &Weak<HookRegistry>) -> &'static str {
    let removal = hooks.upgrade().unwrap().unregister_plugin("shed");
    match poll_once((&removal).into_future().as_mut()).map(DrainOutcome::into_result) {
        Poll::Pending => "waits",
        Poll::Ready(Err(_)) => "inside",
        Poll::Ready(Ok(())) => "none runs",
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
async fn l19_no_other_plugin_is_taken_for_one_that_panicked() {
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

/// Waits for the plugin when it is printed and when it is dropped.
#[derive(Debug)]
pub struct Asks(Weak<HookRegistry>, Log);

impl Drop for Asks {
    fn drop(&mut self) {
        self.1.push(format!("dropped: {}", waited(&self.0)));
    }
}

impl std::fmt::Display for Asks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.1.push(format!("printed: {}", waited(&self.0)));
        f.write_str("asks")
    }
}

impl std::error::Error for Asks {}

/// The error of a plugin is printed and dropped while its call counts: a wait
/// that was ready before would let code of the plugin run after it.
#[tokio::test]
async fn l19_an_error_of_a_plugin_is_printed_and_dropped_inside_its_call() {
    for way in [Way::Plain, Way::Limited, Way::Suspended] {
        let (hooks, log) = (Arc::new(HookRegistry::new()), Log::new());
        let state = (way, Arc::downgrade(&hooks), log.clone());
        let fails = async |(way, hooks, log): &(Way, Weak<HookRegistry>, Log), _: &u32| {
            if matches!(way, Way::Suspended) {
                tokio::task::yield_now().await;
            }
            Err::<(), _>(Asks(hooks.clone(), log.clone()))
        };
        let asks = async |(way, hooks, log): &(Way, Weak<HookRegistry>, Log), _: &u32| {
            if matches!(way, Way::Suspended) {
                tokio::task::yield_now().await;
            }
            Err::<Option<()>, _>(Asks(hooks.clone(), log.clone()))
        };
        let limit = Duration::from_secs(3600);
        let (tell, ask) = (on::<Tell>().plugin("shed"), on::<Ask>().plugin("shed"));
        let limited = matches!(way, Way::Limited);
        let tell = if limited { tell.timeout(limit) } else { tell };
        let ask = if limited { ask.timeout(limit) } else { ask };
        hooks.register(tell.handler_with(state.clone(), fails)).unwrap();
        hooks.fire_void::<Tell>(&1).await.unwrap();
        assert_eq!(log.take(), ["printed: inside", "dropped: inside"], "{way:?}");
        hooks.register(ask.handler_with(state, asks)).unwrap();
        let _unclaimed = hooks.fire_claiming::<Ask>(&1).await.unwrap();
        assert_eq!(log.take(), ["printed: inside", "dropped: inside"], "{way:?}");
    }
}

/// Printed for a report by one thread, while another waits for the plugin.
#[test]
fn l19_the_wait_is_not_over_while_an_error_is_printed() {
    use std::sync::mpsc;

    #[derive(Debug)]
    struct Slow(mpsc::Sender<()>, std::sync::Mutex<mpsc::Receiver<()>>);

    impl std::fmt::Display for Slow {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.send(()).unwrap();
            self.1.lock().unwrap().recv().unwrap();
            f.write_str("slow")
        }
    }

    impl std::error::Error for Slow {}

    for suspended in [false, true] {
        let (printing, is_printing) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel();
        let error = std::sync::Mutex::new(Some(Slow(printing, may_go_on.into())));
        let hooks = HookRegistry::new();
        let fails = async |(suspended, error): &(bool, std::sync::Mutex<Option<Slow>>), _: &u32| {
            if *suspended {
                tokio::task::yield_now().await;
            }
            Err::<(), _>(error.lock().unwrap().take().unwrap())
        };
        let fails =
            on::<Tell>().plugin("shed").name("slow").handler_with((suspended, error), fails);
        hooks.register(fails).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| futures::executor::block_on(hooks.fire_void::<Tell>(&1)).unwrap());
            is_printing.recv().unwrap();
            let removal = hooks.unregister_plugin("shed");
            let mut drained = (&removal).into_future();
            let is_drained = poll_once(drained.as_mut());
            let running = removal.running();
            go_on.send(()).unwrap();
            assert_eq!((is_drained, &*running), (Poll::Pending, &["slow".to_owned()][..]));
            futures::executor::block_on(drained).into_result().unwrap();
        });
    }
}
