//! Fires beside each other: their counts, their wakers, their depth.
#![cfg(schedules)]

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use hooks_runtime::{FireError, HookContext, HookRegistry, Plugins, Registration, hook_points, on};
use hooks_schedules::{Log, delay, explore};
use shuttle::future::{block_on, yield_now};
use shuttle::thread;

hook_points! {
    void Notified(Log);
    claiming Asked(Log) -> u32;
    void Deep(Log);
}

/// A handler that counts its own calls, and suspends in each.
fn counted(name: &'static str, priority: i32, calls: &Arc<AtomicU64>) -> Registration {
    on::<Asked>().name(name).plugin("audit").priority(priority).handler_with(
        Arc::clone(calls),
        async |calls: &Arc<AtomicU64>, _: &Log| {
            calls.fetch_add(1, Relaxed);
            yield_now().await;
            None::<u32>
        },
    )
}

fn fire(hooks: &HookRegistry) {
    let _nobody = block_on(hooks.fire_claiming::<Asked>(&Log::default())).unwrap();
}

#[test]
fn l22_the_counts_of_calls_add_up() {
    explore(
        "counts of calls add up while lists change, scopes filter and fires are dropped",
        || {
            let (hooks, calls) = (HookRegistry::new(), Arc::<AtomicU64>::default());
            hooks.register([counted("a", 0, &calls), counted("z", 2, &calls)]).unwrap();
            let firing = hooks.clone();
            let whole = thread::spawn(move || {
                fire(&firing);
                fire(&firing);
            });
            let firing = hooks.clone();
            let partly = thread::spawn(move || {
                delay();
                let log = Log::default();
                let mut dropped = Box::pin(firing.fire_claiming::<Asked>(&log));
                let _pending = dropped.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                drop(dropped);
                let scoped = firing.scope(Plugins::BuiltIn);
                let _nobody = block_on(scoped.fire_claiming::<Asked>(&log)).unwrap();
            });
            delay();
            // Each change makes new lists; the counts of the old ones must follow.
            let other = Arc::default();
            let between = hooks.register(counted("m", 1, &other)).unwrap();
            delay();
            assert_eq!(between.unregister().removed(), 1);
            whole.join().unwrap();
            partly.join().unwrap();
            let counted: u64 = hooks.handlers_at::<Asked>().iter().map(|info| info.calls).sum();
            assert_eq!(counted, calls.load(Relaxed));
            let filtered: u64 =
                hooks.handlers_at::<Asked>().iter().map(|info| info.skips.total()).sum();
            assert_eq!(filtered, 2, "one fire in a scope without either");
        },
    );
}

/// What many handlers wait for, and a thread that opens it for one at a time.
#[derive(Debug, Default)]
struct Doors(Mutex<Vec<(bool, Option<Waker>)>>);

impl Doors {
    async fn pass(&self, door: usize) {
        poll_fn(|task| {
            let mut doors = self.0.lock().unwrap();
            if doors[door].0 {
                return Poll::Ready(());
            }
            doors[door].1 = Some(task.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn open(&self, door: usize) {
        let waker = {
            let mut doors = self.0.lock().unwrap();
            doors[door].0 = true;
            doors[door].1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

#[test]
fn l07_no_waker_is_lost_among_many() {
    explore("two threads wake forty waiting handlers, and none is forgotten", || {
        const MANY: usize = 40;
        let hooks = HookRegistry::new();
        let doors = Arc::new(Doors(Mutex::new(vec![(false, None); MANY])));
        let passing: Vec<_> = (0..MANY)
            .map(|door| {
                on::<Notified>().handler_with(
                    (door, Arc::clone(&doors)),
                    async |(door, doors): &(usize, Arc<Doors>), log: &Log| {
                        doors.pass(*door).await;
                        log.note("passed");
                    },
                )
            })
            .collect();
        hooks.register(passing).unwrap();
        let openers: Vec<_> = (0..2)
            .map(|half| {
                let doors = Arc::clone(&doors);
                thread::spawn(move || {
                    for door in (half..MANY).step_by(2) {
                        if door % 8 == half {
                            thread::yield_now();
                        }
                        doors.open(door);
                    }
                })
            })
            .collect();
        let log = Log::default();
        block_on(hooks.fire_void::<Notified>(&log)).unwrap();
        assert_eq!(log.seen().len(), MANY);
        openers.into_iter().for_each(|opener| opener.join().unwrap());
    });
}

#[test]
fn l26_each_thread_has_a_depth_of_its_own() {
    async fn deeper(log: &Log, cx: &HookContext) {
        yield_now().await;
        match Box::pin(cx.hooks().fire_void::<Deep>(log)).await {
            Ok(()) => log.note("deeper"),
            Err(FireError::Nesting(_)) => log.note("too deep"),
            Err(other) => panic!("{other}"),
        }
    }
    explore("two threads nest fires to the limit, each on its own", || {
        let hooks = HookRegistry::builder().max_depth(3).build();
        hooks.register(on::<Deep>().handler(deeper)).unwrap();
        let fires = || {
            let hooks = hooks.clone();
            thread::spawn(move || {
                let log = Log::default();
                block_on(hooks.fire_void::<Deep>(&log)).unwrap();
                assert_eq!(log.seen(), ["too deep", "deeper", "deeper"]);
            })
        };
        let threads = [fires(), fires()];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn l19_a_plugin_cannot_wait_for_itself_and_others_can() {
    explore(
        "a plugin that waits for itself is refused, and one that waits beside it is not",
        || {
            let hooks = HookRegistry::new();
            let itself = on::<Notified>().plugin("audit").handler_with(
                hooks.clone(),
                async |hooks: &HookRegistry, log: &Log| match hooks
                    .unregister_plugin("audit")
                    .await
                    .into_result()
                {
                    Ok(()) => log.note("waited"),
                    Err(_) => log.note("refused"),
                },
            );
            hooks.register(itself).unwrap();
            let firing = hooks.clone();
            let fires = thread::spawn(move || {
                let log = Log::default();
                block_on(firing.fire_void::<Notified>(&log)).unwrap();
                log.seen()
            });
            delay();
            block_on(hooks.unregister_plugin("audit").into_future()).into_result().unwrap();
            let seen = fires.join().unwrap();
            assert!(seen.is_empty() || seen == ["refused"], "{seen:?}");
        },
    );
}
