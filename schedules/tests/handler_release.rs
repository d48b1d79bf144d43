//! What a removed handler captured: kept while a call of it runs or is pending,
//! dropped as soon as none is, whichever thread has to do it.
#![cfg(schedules)]

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use hooks_schedules::{delay, explore};
use shuttle::future::{block_on, yield_now};
use shuttle::thread;

hook_points! {
    claiming Asked(Watch) -> u32;
}

/// Watches a handler from the outside: what it captured must not be looked at
/// to find out whether that is still there. Looking is no step of a schedule.
#[derive(Clone, Debug, Default)]
struct Watch {
    dropped: Arc<AtomicBool>,
    used_after: Arc<AtomicBool>,
}

impl Watch {
    fn is_dropped(&self) -> bool {
        self.dropped.load(Relaxed)
    }

    /// A call of the handler runs. Noted, not asserted: a panic in a handler
    /// would be contained.
    fn runs(&self) {
        self.used_after.fetch_or(self.is_dropped(), Relaxed);
    }
}

/// What the handler that is removed captured.
struct Captured(Watch);

impl Drop for Captured {
    fn drop(&mut self) {
        self.0.dropped.store(true, Relaxed);
    }
}

/// A handler whose calls end at once.
fn ready(watch: &Watch) -> Registration {
    let handler = |_: &Captured, watch: &Watch| {
        watch.runs();
        thread::yield_now();
        watch.runs();
        None::<u32>
    };
    on::<Asked>().plugin("audit").handler_with(Captured(watch.clone()), handler)
}

/// A handler whose calls are pending once.
fn suspending(watch: &Watch) -> Registration {
    on::<Asked>().plugin("audit").handler_with(
        Captured(watch.clone()),
        async |_: &Captured, watch: &Watch| {
            watch.runs();
            yield_now().await;
            watch.runs();
            None::<u32>
        },
    )
}

/// A handler of the host that is pending once, before the one that is removed.
fn before() -> Registration {
    on::<Asked>().priority(-1).handler(async |_: &Watch| {
        yield_now().await;
        None::<u32>
    })
}

/// A handler of the host that never ends, after the one that is removed. A fire
/// that waits for it keeps the list.
fn endless() -> Registration {
    on::<Asked>().priority(1).handler(async |_: &Watch| pending::<Option<u32>>().await)
}

type Fire<'f> = Pin<Box<dyn Future<Output = ()> + 'f>>;

fn fire<'f>(hooks: &'f HookRegistry, watch: &'f Watch) -> Fire<'f> {
    Box::pin(async move {
        let _unclaimed = hooks.fire_claiming::<Asked>(watch).await.unwrap();
    })
}

fn poll(fire: &mut Fire<'_>) -> Poll<()> {
    fire.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Removes the handler while two threads fire, each of which polls its fire so
/// many times and then drops it. Another fire keeps the list all the time, so
/// that the handler does not go with it.
fn removed_beside_fires(handlers: impl Fn(&Watch) -> Vec<Registration>, polls: usize) {
    let (hooks, watch) = (HookRegistry::new(), Watch::default());
    hooks.register(handlers(&watch)).unwrap();
    hooks.register(endless()).unwrap();
    let mut keeps_the_list = fire(&hooks, &watch);
    // Until it waits for the last handler.
    (0..3).for_each(|_| assert!(poll(&mut keeps_the_list).is_pending()));
    let fires = [(); 2].map(|()| {
        let (hooks, watch) = (hooks.clone(), watch.clone());
        thread::spawn(move || {
            let mut fire = fire(&hooks, &watch);
            for _ in 0..polls {
                delay();
                assert!(poll(&mut fire).is_pending());
            }
        })
    });
    delay();
    let removal = hooks.unregister_plugin("audit");
    assert_eq!(removal.removed(), 1);
    block_on(removal.into_future()).into_result().unwrap();
    assert!(watch.is_dropped(), "a wait ended before the handler was dropped");
    fires.into_iter().for_each(|fire| fire.join().unwrap());
    assert!(!watch.used_after.load(Relaxed), "the handler was dropped while it ran");
    drop(keeps_the_list);
}

#[test]
fn l19_a_handler_is_not_dropped_while_it_runs() {
    explore("a removed handler is dropped after its last call, which ends at once", || {
        removed_beside_fires(|watch| vec![ready(watch)], 1);
    });
}

#[test]
fn l19_a_handler_is_not_dropped_while_a_call_of_it_is_pending() {
    explore("a removed handler is dropped after its last call, which was pending", || {
        removed_beside_fires(|watch| vec![suspending(watch)], 2);
    });
}

#[test]
fn l25_a_handler_is_dropped_when_its_pending_call_is() {
    explore("a removed handler is dropped after its last call, which is dropped", || {
        removed_beside_fires(|watch| vec![suspending(watch)], 1);
    });
}

#[test]
fn l19_a_handler_that_fires_under_way_come_to_is_dropped() {
    explore("a removed handler is dropped while fires under way come to it", || {
        removed_beside_fires(|watch| vec![before(), ready(watch)], 2);
    });
}
