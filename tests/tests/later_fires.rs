//! The first fire of a point settles what later ones have to do. They go a quicker
//! way, in which the same holds (L12, L14, L19, L25).

mod support;

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use hooks_runtime::plugin::DrainOutcome;
use hooks_runtime::registry::Handles;
use hooks_runtime::{HookRegistry, hook_points, on};
use support::{Count, Log, poll_once};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { word: &'static str }
}

const AN_HOUR: Duration = Duration::from_secs(60 * 60);

/// Filled once the handler is registered.
type Slot = Arc<Mutex<Option<Handles>>>;

fn unregister(slot: &Slot) {
    let handle = slot.lock().unwrap().take();
    drop(handle.expect("it is registered").unregister());
}

/// Never ends in a fire of that number.
async fn stays_in<const N: u32>(n: &u32) {
    if *n == N {
        std::future::pending::<()>().await;
    }
}

#[tokio::test]
async fn l14_a_handler_that_is_always_late_is_counted_each_time() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let limit = Duration::from_millis(2);
    let late = move |_: &u32| {
        let since = Instant::now();
        while since.elapsed() <= limit {
            std::hint::spin_loop();
        }
    };
    hooks
        .register([
            on::<Tell>().timeout(limit).handler(late),
            on::<Tell>().handler(log.note("next")),
        ])
        .unwrap();
    for _ in 0..3 {
        hooks.fire_void::<Tell>(&1).await.unwrap();
    }
    let infos = hooks.handlers_at::<Tell>();
    let counts = infos.iter().map(|info| (info.calls, info.failures, info.overruns));
    assert_eq!(counts.collect::<Vec<_>>(), [(3, 0, 3), (3, 0, 0)]);
    assert_eq!(log.take(), ["next"; 3]);
}

#[tokio::test]
async fn l19_a_handler_that_the_one_before_it_removes_is_not_called() {
    for limit in [None, Some(AN_HOUR)] {
        let (hooks, log, slot) = (HookRegistry::new(), Log::new(), Slot::default());
        let limited = || match limit {
            None => on::<Tell>(),
            Some(limit) => on::<Tell>().timeout(limit),
        };
        let theirs = Arc::clone(&slot);
        let removes = move |n: &u32| {
            if *n == 2 {
                unregister(&theirs);
            }
        };
        hooks.register(limited().handler(removes)).unwrap();
        let second = hooks.register(limited().handler(log.note("second"))).unwrap();
        *slot.lock().unwrap() = Some(second);
        hooks.register(on::<Tell>().handler(log.note("third"))).unwrap();
        hooks.fire_void::<Tell>(&1).await.unwrap();
        assert_eq!(log.take(), ["second", "third"]);
        hooks.fire_void::<Tell>(&2).await.unwrap();
        assert_eq!(log.take(), ["third"], "with the limit {limit:?}");
    }
}

#[tokio::test]
async fn l19_a_handler_that_is_removed_while_one_before_it_waits_is_not_called() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let waits = async |_: &u32| {
        tokio::task::yield_now().await;
        None::<AmendResult>
    };
    hooks.register(on::<Amend>().handler(waits)).unwrap();
    let noted = log.clone();
    let notes = move |_: &u32| {
        noted.push("second");
        None::<AmendResult>
    };
    let second = hooks.register(on::<Amend>().handler(notes)).unwrap();
    hooks.fire_modifying::<Amend>(&1).await.unwrap();
    assert_eq!(log.take(), ["second"]);
    let mut fire = pin!(hooks.fire_modifying::<Amend>(&2));
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(second.unregister().removed(), 1);
    fire.await.unwrap();
    assert_eq!(log.take(), [""; 0]);
}

/// No one waits for the removal, so the fire itself releases the handler, although
/// another fire that waits knows it as well.
#[tokio::test]
async fn l19_a_handler_that_removes_itself_is_dropped_by_the_end_of_its_fire() {
    let ways = [(0, false), (1, false), (1, true)];
    // Before the handler that stays, or after it.
    let places = ways.map(|(fires, reported)| [-1, 1].map(|place| (place, fires, reported)));
    for (place, fires_before, reported) in places.into_iter().flatten() {
        let (hooks, slot, dropped) = (HookRegistry::new(), Slot::default(), Count::default());
        let (own, kept) = (Arc::clone(&slot), dropped.on_drop());
        let removes = move |n: &u32| {
            let _kept = &kept;
            if *n == 2 {
                unregister(&own);
            }
        };
        let removes = on::<Tell>().priority(place).handler(removes);
        *slot.lock().unwrap() = Some(hooks.register(removes).unwrap());
        hooks.register(on::<Tell>().handler(stays_in::<3>)).unwrap();
        for _ in 0..fires_before {
            hooks.fire_void::<Tell>(&1).await.unwrap();
        }
        let mut other = Box::pin(hooks.fire_void::<Tell>(&3));
        assert!(poll_once(other.as_mut()).is_pending());
        assert_eq!(dropped.get(), 0);
        if reported {
            hooks.fire_void_reported::<Tell>(&2).await.0.unwrap();
        } else {
            hooks.fire_void::<Tell>(&2).await.unwrap();
        }
        assert_eq!(dropped.get(), 1, "{place}, {fires_before}, {reported}");
    }
}

/// One call has ended when the fire is dropped, the other has not. Another fire waits
/// and knows both handlers, so that only the counts of their calls say that they are
/// not in use.
#[tokio::test]
async fn l25_a_fire_that_is_dropped_ends_no_call_twice() {
    for fires_before in 0..2 {
        let hooks = HookRegistry::new();
        let pauses = async |n: &u32| {
            if *n == 2 {
                tokio::task::yield_now().await;
            }
        };
        hooks
            .register([
                on::<Tell>().plugin("pauses").handler(pauses),
                on::<Tell>().plugin("stays").handler(stays_in::<2>),
                on::<Tell>().handler(stays_in::<3>),
            ])
            .unwrap();
        for _ in 0..fires_before {
            hooks.fire_void::<Tell>(&1).await.unwrap();
        }
        let mut other = Box::pin(hooks.fire_void::<Tell>(&3));
        assert!(poll_once(other.as_mut()).is_pending());
        let mut fire = Box::pin(hooks.fire_void::<Tell>(&2));
        assert!(poll_once(fire.as_mut()).is_pending());
        assert!(poll_once(fire.as_mut()).is_pending());
        drop(fire);
        for plugin in ["pauses", "stays"] {
            let removal = hooks.unregister_plugin(plugin);
            let drained = poll_once((&removal).into_future().as_mut());
            assert_eq!(drained.map(DrainOutcome::into_result), Poll::Ready(Ok(())), "{plugin}");
        }
    }
}
