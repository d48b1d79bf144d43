//! Handlers, payloads, wakers and threads that do what is allowed and unkind.

mod support;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use hooks_runtime::{Claim, FireError, HookContext, HookRegistry, hook_points, on};
use support::hostile::at_exit;
use support::poll_once;

#[derive(Debug)]
pub struct Sharp;

impl Drop for Sharp {
    fn drop(&mut self) {
        panic!("a payload panics in its drop");
    }
}

hook_points! {
    pub void Told(u32);
    pub claiming Asked(Sharp) -> u32;
}

/// Puts a waker that does nothing in place of the task's own.
async fn silence(answer: Poll<()>) {
    poll_fn(|task: &mut Context<'_>| {
        *task = Context::from_waker(Waker::noop());
        answer
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn l14_a_handler_that_replaces_its_context_keeps_its_limit() {
    let hooks = HookRegistry::new();
    let silent = async |_: &u32| silence(Poll::Pending).await;
    hooks
        .register(on::<Told>().name("silent").timeout(Duration::from_millis(20)).handler(silent))
        .unwrap();
    let fire = hooks.fire_void::<Told>(&1);
    tokio::time::timeout(Duration::from_secs(2), fire).await.expect("it ends").unwrap();
    assert_eq!(hooks.handlers_at::<Told>()[0].failures, 1);
}

#[tokio::test(start_paused = true)]
async fn l12_a_handler_that_replaces_its_context_silences_no_other() {
    let hooks = HookRegistry::new();
    hooks
        .register([
            on::<Told>().handler(async |_: &u32| silence(Poll::Ready(())).await),
            on::<Told>()
                .handler(async |_: &u32| tokio::time::sleep(Duration::from_millis(5)).await),
        ])
        .unwrap();
    let fire = hooks.fire_void::<Told>(&1);
    tokio::time::timeout(Duration::from_secs(2), fire).await.expect("it ends").unwrap();
}

#[tokio::test]
async fn l15_a_claim_is_not_lost_with_a_payload_that_panics_in_its_drop() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Asked>().handler(|_: &Sharp| Some(3))).unwrap();
    let claim = hooks.fire_claiming_with::<Asked>(|| Sharp).await.unwrap();
    assert_eq!(claim, Claim::Claimed(3));
}

/// Panics once, then counts.
struct PanicsOnce {
    panics: AtomicBool,
    woken: AtomicU32,
}

impl Wake for PanicsOnce {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        assert!(!self.panics.swap(false, Ordering::SeqCst), "a waker panics");
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn l12_a_waker_that_panics_once_is_woken_by_the_next_of_many() {
    let hooks = HookRegistry::new();
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    for _ in 0..40 {
        let handler = async |wakers: &Arc<Mutex<Vec<Waker>>>, _: &u32| {
            poll_fn(|task| {
                wakers.lock().unwrap().push(task.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        };
        hooks.register(on::<Told>().handler_with(Arc::clone(&wakers), handler)).unwrap();
    }
    let counts = Arc::new(PanicsOnce { panics: AtomicBool::new(false), woken: AtomicU32::new(0) });
    let waker = Waker::from(Arc::clone(&counts));
    let mut fire = pin!(hooks.fire_void::<Told>(&1));
    assert!(fire.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    counts.woken.store(0, Ordering::SeqCst);
    counts.panics.store(true, Ordering::SeqCst);
    let wakers = std::mem::take(&mut *wakers.lock().unwrap());
    wakers[wakers.len() - 1].wake_by_ref();
    wakers[wakers.len() - 2].wake_by_ref();
    assert_eq!(counts.woken.load(Ordering::SeqCst), 1);
}

#[test]
fn l26_nesting_is_limited_in_the_destructors_of_a_thread() {
    let hooks = HookRegistry::new();
    let refused = Arc::new(AtomicUsize::new(0));
    let nests = |refused: &Arc<AtomicUsize>, depth: &u32, cx: &HookContext| {
        if *depth < 100 {
            let next = depth + 1;
            let nested = poll_once(pin!(cx.hooks().fire_void::<Told>(&next)));
            if let Poll::Ready(Err(FireError::Nesting(_))) = nested {
                refused.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    hooks.register(on::<Told>().handler_with(Arc::clone(&refused), nests)).unwrap();
    thread::spawn(move || {
        let late = hooks.clone();
        at_exit(move || assert!(poll_once(pin!(late.fire_void::<Told>(&0))).is_ready()));
        // The thread has fired before, and what it fires with is gone first.
        assert!(poll_once(pin!(hooks.fire_void::<Told>(&1000))).is_ready());
    })
    .join()
    .unwrap();
    assert_eq!(refused.load(Ordering::SeqCst), 1);
}
