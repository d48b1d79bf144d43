//! Handlers that leave one by one (L17, L19): a removal has happened when the call
//! returns, and its wait is for the calls of what it removed and for no others.
// The bare statements below are how users write them.
#![deny(unused_must_use)]

mod support;

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hooks_runtime::plugin::{DrainError, DrainOutcome, Removal};
use hooks_runtime::registry::{Handle, Owner};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use support::{Count, Log, OnDrop, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// The bell rings.
    pub void Ring { n: u32 }
    /// Who opens.
    pub claiming Open { n: u32 } -> u32;
}

const RING: RingPayload = RingPayload { n: 1 };
const OPEN: OpenPayload = OpenPayload { n: 1 };

/// A handler that waits for its gate.
fn waits(name: &'static str, gate: &Arc<Notify>) -> Registration {
    let gate = Arc::clone(gate);
    on::<Ring>().name(name).handler_with(gate, async |gate: &Arc<Notify>, _: &RingPayload| {
        gate.notified().await;
    })
}

fn drained(removal: &Removal) -> Poll<Result<(), DrainError>> {
    poll_once(removal.into_future().as_mut()).map(DrainOutcome::into_result)
}

#[tokio::test]
async fn l17_every_way_to_remove_is_a_statement() {
    let hooks = HookRegistry::new();
    let note = |name: &'static str| on::<Ring>().name(name).handler(|_: &RingPayload| ());
    let handles = hooks.register([note("a"), note("b")]).unwrap();
    handles[0].unregister();
    handles[0].unregister().await;
    handles.unregister();
    handles.unregister().await;
    hooks.unregister_plugin("audit");
    hooks.unregister_plugin("audit").await;
    hooks.registrar("audit").unwrap().unregister();
    assert!(hooks.handlers().is_empty());
}

/// Of a built-in handler as of a plugin's, and at a point of every kind of walk.
#[tokio::test(start_paused = true)]
async fn l19_a_handle_waits_for_the_calls_of_its_handler_and_for_no_others() {
    for plugin in [None, Some("porter")] {
        let hooks = HookRegistry::new();
        let gates: [Arc<Notify>; 2] = Default::default();
        let group = [waits("first", &gates[0]), waits("second", &gates[1])];
        let handles = match plugin {
            None => hooks.register(group),
            Some(id) => hooks.registrar(id).unwrap().register(group),
        }
        .unwrap();
        let mut firing = Box::pin(hooks.fire_void::<Ring>(&RING));
        assert!(poll_once(firing.as_mut()).is_pending());

        let first = handles[0].unregister();
        assert_eq!((first.removed(), first.running()), (1, vec!["first".to_owned()]));
        assert_eq!(hooks.handlers_at::<Ring>().len(), 1, "it is removed already");
        assert!(drained(&first).is_pending());
        // Removing twice is harmless, and waits for the same call.
        let again = handles[0].unregister();
        assert_eq!((again.removed(), again.running()), (0, vec!["first".to_owned()]));
        assert!(drained(&again).is_pending());

        gates[0].notify_one();
        assert!(poll_once(firing.as_mut()).is_pending(), "the second still waits");
        assert_eq!(drained(&first), Poll::Ready(Ok(())));
        assert_eq!(drained(&again), Poll::Ready(Ok(())));
        assert_eq!(first.running(), [""; 0]);

        // The group waits for what is left of it.
        let both = handles.unregister();
        assert_eq!((both.removed(), both.running()), (1, vec!["second".to_owned()]));
        assert!(drained(&both).is_pending());
        gates[1].notify_one();
        soon(firing).await.unwrap();
        let outcome = soon(both.into_future()).await;
        assert!(outcome.is_drained());
        assert_eq!(outcome.removed(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_deadline_names_the_handlers_that_are_left_of_a_group() {
    let hooks = HookRegistry::new();
    let gate: Arc<Notify> = Arc::default();
    let handles = hooks.register([waits("one", &gate), waits("two", &gate)]).unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(firing.as_mut()).is_pending());
    let removal = handles.unregister();
    let since = tokio::time::Instant::now();
    let late = removal.within(Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(since.elapsed(), Duration::from_secs(3));
    assert_eq!(
        late,
        DrainError::StillRunning {
            plugin: Owner::BuiltIn,
            waited: Duration::from_secs(3),
            running: vec!["one".into(), "two".into()],
            runs: 0,
        }
    );
    assert_eq!(
        late.to_string(),
        "built-in has handlers running after 3s: one, two; wait again, \
                                  or longer"
    );
    // It can be waited for again.
    gate.notify_waiters();
    soon(firing).await.unwrap();
    removal.within(Duration::ZERO).await.unwrap();
}

/// A group may have handlers of several owners; the wait is over with the last.
#[tokio::test(start_paused = true)]
async fn l19_a_group_of_several_owners_is_waited_for_as_one() {
    let hooks = HookRegistry::new();
    let gates: [Arc<Notify>; 2] = Default::default();
    let theirs = on::<Ring>()
        .name("theirs")
        .plugin("porter")
        .handler_with(Arc::clone(&gates[0]), async |gate: &Arc<Notify>, _: &RingPayload| {
            gate.notified().await
        });
    let handles = hooks.register([theirs, waits("ours", &gates[1])]).unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(firing.as_mut()).is_pending());
    let removal = handles.unregister();
    assert_eq!(removal.removed(), 2);
    for (gate, left) in gates.iter().zip([1, 0]) {
        assert!(drained(&removal).is_pending());
        gate.notify_one();
        let _ = poll_once(firing.as_mut());
        assert_eq!(removal.running().len(), left);
    }
    assert_eq!(drained(&removal), Poll::Ready(Ok(())));
}

/// What it captured goes with its last call, also of a built-in handler, while
/// the fire goes on.
#[tokio::test]
async fn l19_what_a_removed_handler_captured_is_dropped_with_its_last_call() {
    let (hooks, dropped) = (HookRegistry::new(), Count::default());
    let gates: [Arc<Notify>; 2] = Default::default();
    let state = (Arc::clone(&gates[0]), dropped.on_drop());
    let handle = hooks
        .register(on::<Ring>().handler_with(
            state,
            async |(gate, _): &(Arc<Notify>, support::CountsDrop), _: &RingPayload| {
                gate.notified().await;
            },
        ))
        .unwrap();
    hooks.register(waits("other", &gates[1])).unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(firing.as_mut()).is_pending());
    let removal = handle.unregister();
    assert_eq!(dropped.get(), 0, "its call is pending");
    gates[0].notify_one();
    assert!(poll_once(firing.as_mut()).is_pending(), "the other still waits");
    assert_eq!((dropped.get(), removal.running().len()), (1, 0));
}

type Pair = Arc<std::sync::OnceLock<[Handle; 2]>>;

/// From inside the very handler it is an error, and logged; another of the same
/// owner can be waited for.
#[tokio::test]
async fn l19_a_handler_cannot_wait_for_itself_and_can_for_its_neighbour() {
    let (hooks, log, gate) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
    let own = Pair::default();
    let leaves = on::<Open>().name("leaves").handler_with(
        (log.clone(), Arc::clone(&own)),
        async |(log, own): &(Log, Pair), _: &OpenPayload| {
            let [itself, neighbour] = own.get().unwrap();
            let removal = neighbour.unregister();
            log.push(format!("neighbour: {:?}", drained(&removal)));
            let refused = itself.unregister().await.into_result().unwrap_err();
            log.push(refused.to_string());
            None::<u32>
        },
    );
    let leaves = hooks.register(leaves).unwrap();
    let neighbour = hooks.register(waits("neighbour", &gate)).unwrap();
    own.set([leaves[0].clone(), neighbour[0].clone()]).unwrap();
    // The neighbour is in a call of another fire.
    let mut ringing = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(ringing.as_mut()).is_pending());
    let _ = hooks.fire_claiming::<Open>(&OPEN).await.unwrap();
    assert_eq!(
        log.take(),
        [
            "neighbour: Pending",
            "built-in cannot wait for itself: this is one of its own \
                                handlers; await the removal outside of them, or drop it"
        ]
    );
    assert!(hooks.handlers().is_empty());
}

/// A fire under way goes on with a handler that was replaced, until its handle
/// removes it: what was waited for must not start again.
#[tokio::test]
async fn l19_a_replaced_handler_that_is_removed_starts_no_more() {
    let (hooks, log, gate) = (HookRegistry::new(), Log::new(), Arc::new(Notify::new()));
    let first = on::<Open>().name("first").handler_with(
        Arc::clone(&gate),
        async |gate: &Arc<Notify>, _: &OpenPayload| {
            gate.notified().await;
            None::<u32>
        },
    );
    hooks.register(first).unwrap();
    let old = hooks.register(on::<Open>().name("second").handler(log.note_claim("old"))).unwrap();
    let mut firing = Box::pin(hooks.fire_claiming::<Open>(&OPEN));
    assert!(poll_once(firing.as_mut()).is_pending());
    let new = on::<Open>().name("second").replace().handler(log.note_claim("new"));
    hooks.register(new).unwrap();
    let removal = old.unregister();
    assert_eq!(removal.removed(), 0, "it is replaced already");
    assert_eq!(drained(&removal), Poll::Ready(Ok(())));
    gate.notify_one();
    assert!(firing.await.unwrap().claimed().is_none());
    assert_eq!(log.take(), [""; 0]);
    gate.notify_one();
    let _ = hooks.fire_claiming::<Open>(&OPEN).await.unwrap();
    assert_eq!(log.take(), ["new"]);
}

#[tokio::test]
async fn l19_a_handler_that_is_removed_twice_by_name_is_waited_for_twice() {
    let (hooks, gate) = (HookRegistry::new(), Arc::new(Notify::new()));
    hooks.register(waits("opens", &gate)).unwrap();
    hooks.registrar("porter").unwrap().register(waits("opens", &gate)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());
    for name in ["opens", "porter/opens"] {
        for removed in [1, 0] {
            let removal = hooks.unregister_handler_at::<Ring>(name);
            assert_eq!(removal.removed(), removed, "{name}");
            assert_eq!(drained(&removal), Poll::Pending, "{name}");
            // At another point there is nothing of that name.
            assert_eq!(drained(&hooks.unregister_handler_at::<Open>(name)), Poll::Ready(Ok(())));
        }
    }
    gate.notify_one();
    gate.notify_one();
    fire.await.unwrap();
    assert_eq!(drained(&hooks.unregister_handler("porter/opens")), Poll::Ready(Ok(())));
}

#[test]
fn l22_a_handler_is_removed_by_the_name_that_introspection_shows() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Ring>().handler(|_: &RingPayload| ())).unwrap();
    hooks.register(on::<Ring>().plugin("porter").handler(|_: &RingPayload| ())).unwrap();
    for handler in hooks.handlers() {
        let name = match handler.owner.plugin() {
            None => handler.name.to_string(),
            Some(plugin) => format!("{plugin}/{}", handler.name),
        };
        assert_eq!(hooks.unregister_handler(&name).removed(), 1, "{name}");
    }
    assert!(hooks.handlers().is_empty());
}

/// A thread is in the drop of what a replaced handler captured, and of what was
/// captured by one whose registry is gone.
#[test]
fn l19_a_handle_waits_for_a_drop_that_another_thread_is_in() {
    for is_replaced in [true, false] {
        let ((begun, begins), (go, goes)) = (channel(), channel::<()>());
        let goes = Mutex::new(goes);
        let captured = OnDrop(move || {
            begun.send(()).unwrap();
            goes.lock().unwrap().recv().unwrap();
        });
        let hooks = HookRegistry::new();
        let opens = move |_: &RingPayload| {
            let _ = &captured;
        };
        let handle = hooks.register(on::<Ring>().name("opens").handler(opens)).unwrap();
        let other = std::thread::spawn(move || {
            if is_replaced {
                let next = on::<Ring>().name("opens").replace().handler(|_: &RingPayload| ());
                hooks.register(next).unwrap();
            }
        });
        begins.recv().unwrap();
        let removal = handle.unregister();
        assert_eq!(drained(&removal), Poll::Pending);
        go.send(()).unwrap();
        assert!(futures::executor::block_on(removal.into_future()).is_drained());
        other.join().unwrap();
    }
}

#[derive(Debug)]
struct BadTimer;

struct BadSleep;

impl Future for BadSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Drop for BadSleep {
    fn drop(&mut self) {
        panic!("the timer is broken");
    }
}

impl Timer for BadTimer {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(BadSleep))
    }
}

#[tokio::test]
async fn l12_a_timer_that_panics_in_its_drop_does_not_reach_a_wait() {
    support::keep_quiet(&["the timer is broken"]);
    let hooks = HookRegistry::builder().timer(BadTimer).build();
    let gate = Arc::new(Notify::new());
    let handles = hooks.register(waits("opens", &gate)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Ring>(&RING));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = handles.unregister();
    let mut within = Box::pin(removal.within(Duration::from_secs(1)));
    assert!(poll_once(within.as_mut()).is_pending());
    gate.notify_one();
    fire.await.unwrap();
    assert_eq!(within.await, Ok(()));
}
