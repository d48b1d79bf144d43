//! Calls are counted exactly, wherever a fire ends (L22).

mod support;

use std::pin::pin;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::{HookRegistry, Plugins, hook_points, on};
use support::poll_once;
use tokio::task::yield_now;

hook_points! {
    /// Who takes the parcel of that number?
    pub claiming Take(usize) -> usize;
}

/// More than one chunk of a list.
const MANY: usize = 70;

/// What makes a fire leave its shortest path.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Nothing.
    Plain,
    /// The handler of that place suspends.
    Suspends(usize),
    /// All handlers have a limit, which needs a clock.
    Limited,
    /// The handler of that place is a plugin's, and the fire is for others.
    Filtered(usize),
}

/// Handlers that claim the parcel with the number of their place.
fn registered(way: Way) -> HookRegistry {
    let hooks = HookRegistry::new();
    for place in 0..MANY {
        let on = on::<Take>();
        let on = match way {
            Way::Limited => on.timeout(Duration::from_secs(3600)),
            Way::Filtered(filtered) if filtered == place => on.plugin("audit"),
            _ => on,
        };
        let suspends = matches!(way, Way::Suspends(at) if at == place);
        let handler = on.handler_with(
            (place, suspends),
            async |(place, suspends): &(usize, bool), wanted: &usize| {
                if *suspends {
                    yield_now().await;
                }
                (place == wanted).then_some(*place)
            },
        );
        hooks.register(handler).unwrap();
    }
    hooks
}

#[test]
fn l22_a_fire_that_ends_early_counts_those_it_called_and_no_other() {
    let ways = [
        Way::Plain,
        Way::Suspends(0),
        Way::Suspends(1),
        Way::Suspends(65),
        Way::Limited,
        Way::Filtered(0),
        Way::Filtered(64),
    ];
    for way in ways {
        let hooks = registered(way);
        let scoped = hooks.scope(Plugins::BuiltIn);
        let mut expected = vec![0; MANY];
        for (fires, end) in [0, 1, 2, 63, 64, 65, MANY - 1, MANY].into_iter().enumerate() {
            if fires % 2 == 0 {
                let _claim = block_on(scoped.fire_claiming::<Take>(&end)).unwrap();
            } else {
                let (_claim, _report) = block_on(scoped.fire_claiming_reported::<Take>(&end));
            }
            let filtered = matches!(way, Way::Filtered(place) if place == end);
            let called = if filtered { MANY } else { MANY.min(end + 1) };
            expected[..called].iter_mut().for_each(|calls| *calls += 1);
            if let Way::Filtered(place) = way {
                expected[place] = 0;
            }
            let counted: Vec<_> = hooks.handlers().iter().map(|handler| handler.calls).collect();
            assert_eq!(counted, expected, "{way:?}, after the fire that ended at {end}");
        }
    }
}

hook_points! {
    /// A parcel came.
    pub void Came(usize);
    /// A parcel is packed.
    pub flow Pack(usize) -> usize;
}

fn calls(hooks: &HookRegistry) -> Vec<u64> {
    hooks.handlers_at::<Came>().iter().map(|handler| handler.calls).collect()
}

#[test]
fn l22_no_call_is_forgotten_while_an_older_fire_waits() {
    let hooks = HookRegistry::new();
    let waits = async |n: &usize| {
        if *n == 3 {
            std::future::pending::<()>().await;
        }
    };
    let first = hooks.register(on::<Came>().name("first").handler(waits)).unwrap();
    for n in 0..3 {
        block_on(hooks.fire_void::<Came>(&n)).unwrap();
    }
    let mut fire = Box::pin(hooks.fire_void::<Came>(&3));
    assert!(poll_once(fire.as_mut()).is_pending());
    let second = hooks.register(on::<Came>().name("second").handler(|_: &usize| {})).unwrap();
    assert_eq!(calls(&hooks), [4, 0]);
    let third = on::<Came>().name("third").before("first").handler(|_: &usize| {});
    let third = hooks.register(third).unwrap();
    // `first` comes last now.
    assert_eq!(calls(&hooks), [0, 0, 4]);
    block_on(hooks.fire_void::<Came>(&0)).unwrap();
    assert_eq!(calls(&hooks), [1, 1, 5]);
    second.unregister();
    third.unregister();
    assert_eq!(calls(&hooks), [5]);
    drop(fire);
    assert_eq!(calls(&hooks), [5]);
    first.unregister();
}

#[test]
fn l22_a_waiting_run_of_a_flow_makes_no_point_forget_its_calls() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Came>().handler(|_: &usize| {})).unwrap();
    block_on(hooks.fire_void::<Came>(&1)).unwrap();
    let never = async |_: usize| std::future::pending::<Result<usize, String>>().await;
    let mut run = Box::pin(hooks.run_flow::<Pack, _>(1, never));
    assert!(poll_once(run.as_mut()).is_pending());
    hooks.register(on::<Came>().handler(|_: &usize| {})).unwrap();
    assert_eq!(calls(&hooks), [1, 0]);
}

/// Each counts where no other thread does, along a list of one chunk and of several.
#[test]
fn l22_no_call_of_threads_that_fire_at_once_is_lost() {
    const THREADS: usize = 4;
    for (handlers, fires) in [(1, 100_000), (MANY, 10_000)] {
        let hooks = HookRegistry::new();
        for _ in 0..handlers {
            hooks.register(on::<Take>().handler(|_: &usize| None::<usize>)).unwrap();
        }
        let together = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    together.wait();
                    for _ in 0..fires {
                        assert!(poll_once(pin!(hooks.fire_claiming::<Take>(&0))).is_ready());
                    }
                });
            }
        });
        let infos = hooks.handlers_at::<Take>();
        let calls: Vec<_> = infos.iter().map(|info| info.calls).collect();
        assert_eq!(calls, vec![(THREADS * fires) as u64; handlers]);
    }
}
