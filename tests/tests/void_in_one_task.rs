//! Void is concurrent in one task, and not parallel (L07): a handler that holds
//! its thread holds up the others, and one that waits is left alone.

mod support;

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread::ThreadId;
use std::time::Duration;

use hooks_runtime::{HookRegistry, Registration, hook_points, on};
use support::{Log, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// The hour strikes.
    pub void Strike(u32);
}

type Threads = Arc<Mutex<Vec<ThreadId>>>;

/// Notes its thread, its beginning and its end, and gives way in between.
fn strikes(log: &Log, threads: &Threads, name: &'static str) -> Registration {
    async fn strike(state: &(Log, Threads, &'static str), _: &u32) {
        let (log, threads, name) = state;
        threads.lock().unwrap().push(std::thread::current().id());
        log.push(format!("{name} begins"));
        tokio::task::yield_now().await;
        log.push(format!("{name} ends"));
    }
    on::<Strike>().name(name).handler_with((log.clone(), threads.clone(), name), strike)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l07_void_handlers_share_one_task() {
    let (hooks, log, threads) = (HookRegistry::new(), Log::new(), Threads::default());
    let holds = log.clone();
    hooks
        .register([
            strikes(&log, &threads, "first"),
            on::<Strike>().name("holds").handler(move |_: &u32| {
                holds.push("holds begins");
                std::thread::yield_now();
                holds.push("holds ends");
            }),
            strikes(&log, &threads, "last"),
        ])
        .unwrap();
    // A task of its own, on any of the four threads.
    tokio::spawn(async move { hooks.fire_void::<Strike>(&1).await }).await.unwrap().unwrap();
    let told = log.take();
    assert_eq!(told[..4], ["first begins", "holds begins", "holds ends", "last begins"]);
    assert_eq!(told[4..], ["first ends", "last ends"]);
    let threads = threads.lock().unwrap();
    assert_eq!(threads[0], threads[1], "all were started by one poll, on one thread");
}

/// The waker of every poll so far, by handler.
type Polls = Arc<Mutex<Vec<Vec<Waker>>>>;

/// So many handlers that wait for ever.
fn waiting(count: usize) -> (HookRegistry, Polls) {
    async fn wait((polls, place): &(Polls, usize), _: &u32) {
        poll_fn(|task| {
            polls.lock().unwrap()[*place].push(task.waker().clone());
            Poll::<()>::Pending
        })
        .await;
    }
    let (hooks, polls) = (HookRegistry::new(), Polls::default());
    polls.lock().unwrap().resize(count, Vec::new());
    let waits = |place| on::<Strike>().handler_with((Arc::clone(&polls), place), wait);
    hooks.register((0..count).map(waits)).unwrap();
    (hooks, polls)
}

/// How often each was polled since the last look.
fn looked(polls: &Polls, last: &mut Vec<usize>) -> Vec<usize> {
    let now: Vec<_> = polls.lock().unwrap().iter().map(Vec::len).collect();
    let since = now.iter().enumerate().map(|(at, polls)| polls - last.get(at).unwrap_or(&0));
    let since = since.collect();
    *last = now;
    since
}

#[test]
fn l07_a_few_that_wait_are_polled_once_until_one_is_woken() {
    for count in [1, 4, 32] {
        let (hooks, polls) = waiting(count);
        let (mut fire, mut last) = (Box::pin(hooks.fire_void::<Strike>(&1)), Vec::new());
        assert!(poll_once(fire.as_mut()).is_pending());
        assert_eq!(looked(&polls, &mut last), vec![1; count]);
    }
}

#[test]
fn l07_of_many_that_wait_only_those_that_were_woken_are_polled() {
    let (hooks, polls) = waiting(40);
    let (mut fire, mut last) = (Box::pin(hooks.fire_void::<Strike>(&1)), Vec::new());
    assert!(poll_once(fire.as_mut()).is_pending());
    // The first calls were polled with the task's waker before there were many.
    let first: Vec<_> = (0..40).map(|place| if place < 32 { 2 } else { 1 }).collect();
    assert_eq!(looked(&polls, &mut last), first);
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(looked(&polls, &mut last), [0; 40]);
    for place in [3, 31, 32, 39] {
        let waker = polls.lock().unwrap()[place].last().unwrap().clone();
        waker.wake();
    }
    assert!(poll_once(fire.as_mut()).is_pending());
    let woken: Vec<_> =
        (0..40).map(|place| usize::from([3, 31, 32, 39].contains(&place))).collect();
    assert_eq!(looked(&polls, &mut last), woken);
}

#[tokio::test(start_paused = true)]
async fn l07_the_wake_of_any_of_many_reaches_the_task() {
    for count in [1, 32, 33, 150] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let bells: Arc<Vec<_>> = Arc::new((0..count).map(|_| Notify::new()).collect());
        for place in 0..count {
            let state = (Arc::clone(&bells), place, log.clone());
            let strike = async |(bells, place, log): &(Arc<Vec<Notify>>, usize, Log), _: &u32| {
                bells[*place].notified().await;
                log.push(place.to_string());
            };
            // Beside each that waits, one that does not.
            hooks
                .register([
                    on::<Strike>().handler_with(state, strike),
                    on::<Strike>().handler(idle),
                ])
                .unwrap();
        }
        let fire = tokio::spawn(async move { hooks.fire_void::<Strike>(&1).await });
        for place in (0..count).rev() {
            bells[place].notify_one();
            soon(async {
                while log.is_empty() {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            })
            .await;
            assert_eq!(log.take(), [place.to_string()]);
        }
        soon(fire).await.unwrap().unwrap();
    }
}

fn idle(_: &u32) {}

#[tokio::test(start_paused = true)]
async fn l14_each_of_many_that_wait_has_its_limit() {
    let hooks = HookRegistry::new();
    for _ in 0..150 {
        let waits = async |_: &u32| std::future::pending::<()>().await;
        let limited = on::<Strike>().timeout(Duration::from_secs(1)).handler(waits);
        hooks.register([limited, on::<Strike>().handler(idle)]).unwrap();
    }
    soon(hooks.fire_void::<Strike>(&1)).await.unwrap();
    let failures: Vec<_> = hooks.handlers_at::<Strike>().iter().map(|h| h.failures).collect();
    assert_eq!(failures, [1, 0].repeat(150));
}

/// Wakes its waker and is ready in the same poll, as `select!` may do.
#[tokio::test(start_paused = true)]
async fn l12_one_that_wakes_itself_and_is_ready_among_many_that_wait() {
    async fn wakes_and_is_ready(_: &u32) {
        poll_fn(|task| {
            task.waker().wake_by_ref();
            Poll::Ready(())
        })
        .await;
    }
    async fn selects(_: &u32) {
        tokio::select! {
            biased;
            () = tokio::task::yield_now() => {}
            () = async {} => {}
        }
    }
    // Around the numbers at which the marks of wakers need another word.
    for waiting in [31, 32, 33, 63, 64, 65, 127, 128, 200] {
        let (hooks, log) = (HookRegistry::new(), Log::new());
        let waits = async |log: &Log, _: &u32| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            log.push("waited");
        };
        let handlers = (0..waiting).map(|_| on::<Strike>().handler_with(log.clone(), waits));
        hooks.register(handlers).unwrap();
        hooks
            .register([
                on::<Strike>().handler(wakes_and_is_ready),
                on::<Strike>().handler(selects),
                on::<Strike>().handler(wakes_and_is_ready),
            ])
            .unwrap();
        soon(hooks.fire_void::<Strike>(&1)).await.unwrap();
        assert_eq!(log.take().len(), waiting);
        let calls: Vec<_> = hooks.handlers_at::<Strike>().iter().map(|h| h.calls).collect();
        assert_eq!(calls, vec![1; waiting + 3]);
    }
}
