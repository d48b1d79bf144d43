//! Wakers that panic: while they are cloned, woken or dropped. They are the
//! executor's code, and nothing of it unwinds out of a fire.
// A waker whose clone panics cannot be made without.
#![allow(unsafe_code)]

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use hooks_runtime::{HookRegistry, on};

use crate::driving::{finish, poll_once, quietly};
use crate::shapes::{Payload, Told, pause};

/// When a waker panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    Cloned,
    Woken,
    Dropped,
    Never,
}

/// What a waker points to: when it panics, and how many of it there are.
struct Hostile {
    when: When,
    there: AtomicU32,
    woken: AtomicU32,
    /// What is done when it is woken, once.
    on_wake: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Hostile {
    fn new(when: When) -> &'static Self {
        // Kept where the checker sees that they are not forgotten.
        static ALL: Mutex<Vec<&'static Hostile>> = Mutex::new(Vec::new());
        let (there, woken) = (AtomicU32::new(1), AtomicU32::new(0));
        let on_wake = Mutex::default();
        let hostile = Box::leak(Box::new(Self { when, there, woken, on_wake }));
        ALL.lock().unwrap_or_else(PoisonError::into_inner).push(hostile);
        hostile
    }

    fn at(&self, when: When) {
        assert!(self.when != when, "the waker panics");
    }

    fn wake(&self) {
        self.woken.fetch_add(1, Ordering::SeqCst);
        let on_wake = self.on_wake.lock().unwrap().take();
        if let Some(on_wake) = on_wake {
            on_wake();
        }
        self.at(When::Woken);
    }

    fn waker(&'static self) -> Waker {
        let data = std::ptr::from_ref(self).cast();
        // SAFETY: the table's functions take a pointer to a leaked `Hostile`.
        unsafe { Waker::from_raw(RawWaker::new(data, &TABLE)) }
    }
}

/// # Safety
/// It points to a `Hostile` that is there for ever.
unsafe fn of(data: *const ()) -> &'static Hostile {
    // SAFETY: passed on to the caller.
    unsafe { &*data.cast() }
}

// SAFETY (all): made by `Hostile::waker` only.
static TABLE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        let hostile = unsafe { of(data) };
        hostile.at(When::Cloned);
        hostile.there.fetch_add(1, Ordering::SeqCst);
        RawWaker::new(data, &TABLE)
    },
    |data| {
        let hostile = unsafe { of(data) };
        hostile.there.fetch_sub(1, Ordering::SeqCst);
        hostile.wake();
    },
    |data| unsafe { of(data) }.wake(),
    |data| {
        let hostile = unsafe { of(data) };
        hostile.there.fetch_sub(1, Ordering::SeqCst);
        hostile.at(When::Dropped);
    },
);

/// Waits until it is polled once more, and leaves its waker outside.
async fn waits(wakers: &Mutex<Vec<Waker>>, _: &Payload) {
    let mut first = true;
    poll_fn(|task| {
        if std::mem::take(&mut first) {
            let waker = task.waker().clone();
            wakers.lock().unwrap().push(waker);
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

/// Polls with that waker, which panics itself as it goes.
fn polled<F: Future + ?Sized>(
    fire: std::pin::Pin<&mut F>,
    hostile: &'static Hostile,
) -> Poll<F::Output> {
    hostile.there.fetch_add(1, Ordering::SeqCst);
    let waker = std::mem::ManuallyDrop::new(hostile.waker());
    let polled = fire.poll(&mut Context::from_waker(&waker));
    hostile.there.fetch_sub(1, Ordering::SeqCst);
    polled
}

#[test]
fn l12_wakers_that_panic_stay_out_of_a_fire() {
    quietly(|| {
        for when in [When::Never, When::Cloned, When::Woken, When::Dropped] {
            // Few that wait share the task's waker, many have their own.
            for count in [1, 40] {
                let (hooks, payload) = (HookRegistry::new(), Payload::new());
                let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
                let handlers = (0..count).map(|_| {
                    let shared = Arc::clone(&wakers);
                    on::<Told>().handler_with(
                        shared,
                        async |wakers: &Arc<Mutex<Vec<Waker>>>, payload: &Payload| {
                            waits(wakers, payload).await;
                        },
                    )
                });
                hooks.register(handlers).unwrap();
                let (first, second) = (Hostile::new(when), Hostile::new(when));
                let all = || {
                    let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
                    let mut polls = 0;
                    let mut hostile = first;
                    while polled(fire.as_mut(), hostile).is_pending() {
                        polls += 1;
                        assert!(polls < 4, "it is polled to its end");
                        // Another waker from now on: the old one is dropped.
                        hostile = second;
                        let kept = std::mem::take(&mut *wakers.lock().unwrap());
                        for waker in kept {
                            // Who wakes a handler may meet the task's own waker.
                            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
                            let _ = catch_unwind(AssertUnwindSafe(|| drop(waker)));
                        }
                    }
                    drop(fire);
                    // And a fire that is dropped while it waits.
                    let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
                    let _ = polled(fire.as_mut(), first);
                    drop(fire);
                };
                assert!(catch_unwind(AssertUnwindSafe(all)).is_ok(), "{when:?}, {count}");
                let kept = std::mem::take(&mut *wakers.lock().unwrap());
                for waker in kept {
                    let _ = catch_unwind(AssertUnwindSafe(|| drop(waker)));
                }
                for hostile in [first, second] {
                    assert_eq!(hostile.there.load(Ordering::SeqCst), 1, "{when:?}, {count}");
                }
            }
        }
    });
}

#[test]
fn l12_a_waker_that_panics_keeps_no_other_wait_from_its_end() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        let waits = on::<Told>().plugin("audit").handler(async |_: &Payload| pause().await);
        hooks.register(waits).unwrap();
        let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
        assert!(poll_once(fire.as_mut()).is_pending());
        let removal = hooks.unregister_plugin("audit");
        let mut waits: Vec<_> = (0..3).map(|_| (&removal).into_future()).collect();
        let wakers = [When::Woken, When::Never, When::Woken].map(Hostile::new);
        for (wait, waker) in waits.iter_mut().zip(wakers) {
            assert!(polled(wait.as_mut(), waker).is_pending());
        }
        finish(fire.as_mut()).0.unwrap();
        assert_eq!(wakers.map(|waker| waker.woken.load(Ordering::SeqCst)), [1, 1, 1]);
        for wait in waits {
            finish(pin!(wait)).0.into_result().unwrap();
        }
    });
}

/// A wait that is given up leaves nothing behind.
#[test]
fn l19_a_wait_that_is_dropped_forgets_its_waker() {
    let (hooks, payload) = (HookRegistry::new(), Payload::new());
    let waits = on::<Told>().plugin("audit").handler(async |_: &Payload| pause().await);
    hooks.register(waits).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
    assert!(poll_once(fire.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("audit");
    let hostile = Hostile::new(When::Never);
    for _ in 0..3 {
        let mut wait = (&removal).into_future();
        for _ in 0..2 {
            assert!(polled(wait.as_mut(), hostile).is_pending());
            assert_eq!(hostile.there.load(Ordering::SeqCst), 2, "one waker for each wait");
        }
        drop(wait);
        assert_eq!(hostile.there.load(Ordering::SeqCst), 1, "the wait is gone with its waker");
    }
    finish(fire.as_mut()).0.unwrap();
    assert_eq!(hostile.woken.load(Ordering::SeqCst), 0);
}

/// The last one that knows the task's waker may be the one that wakes it: the
/// executor polls with another waker while it is woken.
#[test]
fn l12_a_waker_that_panics_in_its_drop_stays_out_of_who_wakes_a_handler() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let waiting = (0..40).map(|_| {
            let shared = Arc::clone(&wakers);
            let keeps = async |wakers: &Arc<Mutex<Vec<Waker>>>, _: &Payload| {
                poll_fn(|task| {
                    let waker = task.waker().clone();
                    wakers.lock().unwrap().push(waker);
                    Poll::<()>::Pending
                })
                .await;
            };
            on::<Told>().handler_with(shared, keeps)
        });
        hooks.register(waiting).unwrap();
        let mut fire = Box::pin(async move { hooks.fire_void::<Told>(&payload).await });
        let hostile = Hostile::new(When::Dropped);
        assert!(polled(fire.as_mut(), hostile).is_pending());
        let waker = wakers.lock().unwrap().pop().unwrap();
        *hostile.on_wake.lock().unwrap() =
            Some(Box::new(move || assert!(poll_once(fire.as_mut()).is_pending())));
        let woken = catch_unwind(AssertUnwindSafe(|| waker.wake_by_ref()));
        assert!(woken.is_ok(), "nothing unwinds into who wakes");
        // The first ones were given the task's own waker: the test drops those.
        let kept = std::mem::take(&mut *wakers.lock().unwrap());
        for waker in kept {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(waker)));
        }
        assert_eq!(hostile.there.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn l12_a_wait_drops_wakers_that_panic_with_care() {
    quietly(|| {
        let (hooks, payload) = (HookRegistry::new(), Payload::new());
        let waits = on::<Told>().plugin("audit").handler(async |_: &Payload| pause().await);
        hooks.register(waits).unwrap();
        let mut fire = Box::pin(hooks.fire_void::<Told>(&payload));
        assert!(poll_once(fire.as_mut()).is_pending());
        let removal = hooks.unregister_plugin("audit");
        let hostile = Hostile::new(When::Dropped);
        let waits = || {
            let mut wait = (&removal).into_future();
            assert!(polled(wait.as_mut(), hostile).is_pending());
            // Another waker takes its place, then the wait is given up.
            assert!(poll_once(wait.as_mut()).is_pending());
            assert!(polled(wait.as_mut(), hostile).is_pending());
        };
        assert!(catch_unwind(AssertUnwindSafe(waits)).is_ok());
        assert_eq!(hostile.there.load(Ordering::SeqCst), 1);
        finish(fire.as_mut()).0.unwrap();
    });
}
