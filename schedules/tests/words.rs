//! The smallest pieces, each under every schedule that there is, with the
//! memory orderings they ask for and no stronger ones.
//!
//! These are the runtime's own files, put here on another `sync`: what they
//! take from it is the checker's.
#![cfg(schedules)]
#![allow(dead_code, missing_docs, unreachable_pub)]

mod sync {
    pub(crate) use loom::sync::atomic;
    pub(crate) use loom::sync::{Mutex, MutexGuard};
    pub(crate) mod statics {
        pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
    }
}

/// What a crowd wants to know of a handler.
mod registry {
    pub(crate) mod entry {
        pub(crate) struct Entry {
            pub(crate) presence: crate::presence::Presence,
        }

        impl Entry {
            pub(crate) fn new() -> Self {
                Self { presence: crate::presence::Presence::new(true) }
            }
        }
    }
}

/// No waker panics here.
mod observe {
    pub(crate) mod log {
        pub(crate) fn waker_panicked(message: &str) {
            unreachable!("{message}");
        }
    }
}

/// What panics in a model is the checker's.
mod panics {
    pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
        Ok(work())
    }

    pub(crate) fn drop_contained<T>(_: &str, value: T) {
        drop(value);
    }
}

#[path = "../../hooks-runtime/src/crowd.rs"]
mod crowd;
#[path = "../../hooks-runtime/src/point_state.rs"]
mod point_state;
#[path = "../../hooks-runtime/src/presence.rs"]
mod presence;
#[path = "../../hooks-runtime/src/dispatch/woken.rs"]
mod woken;

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::Poll;

use crowd::Crowd;
use loom::cell::UnsafeCell;
use loom::future::block_on;
use loom::model::Builder;
use loom::thread;
use point_state::{Listening, NO_MARKS, PointState};
use presence::{Entrance, Presence};
use registry::entry::Entry;
use woken::WokenSet;

/// Walks every schedule of `model`.
fn every_schedule(what: &str, model: impl Fn() + Send + Sync + 'static) {
    let walked = walk(None, model);
    println!("\nproof: schedules: {what}: all {walked} of them");
}

/// Walks the schedules of `model` in which at most two steps are put off: of
/// three threads that wait for each other there are too many others.
fn most_schedules(what: &str, model: impl Fn() + Send + Sync + 'static) {
    let walked = walk(Some(2), model);
    println!("\nproof: schedules: {what}: all {walked} with at most two preemptions");
}

fn walk(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) -> usize {
    let walked = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&walked);
    let mut checker = Builder::new();
    checker.preemption_bound = preemptions;
    checker.check(move || {
        counting.fetch_add(1, Relaxed);
        model();
    });
    walked.load(Relaxed)
}

/// What a handler uses, and whoever waited for it takes away.
struct State(UnsafeCell<u32>);

// SAFETY: that nobody uses it while it is taken away is what is checked.
#[allow(unsafe_code)]
unsafe impl Sync for State {}

impl State {
    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn using(&self) {
        self.0.with(|_| ());
    }

    fn take_away(&self) {
        self.0.with_mut(|_| ());
    }
}

/// One call, as a fire makes it.
fn call(presence: &Presence, crowd: &Crowd, state: &State) {
    match presence.enter() {
        Entrance::Open => {
            state.using();
            if presence.exit() {
                crowd.wake();
            }
        }
        Entrance::Closed => {}
        Entrance::ClosedAndIdle => crowd.wake(),
    }
}

#[test]
fn l19_a_closed_handler_that_does_not_run_is_never_used_again() {
    every_schedule("two calls against a close that looks once", || {
        let (presence, state) = (Arc::new(Presence::new(true)), Arc::new(State::new()));
        let calls: Vec<_> = (0..2)
            .map(|_| {
                let (presence, state) = (Arc::clone(&presence), Arc::clone(&state));
                thread::spawn(move || {
                    if presence.enter() == Entrance::Open {
                        state.using();
                        presence.exit();
                    }
                })
            })
            .collect();
        presence.close();
        if presence.running() == 0 {
            state.take_away();
        }
        calls.into_iter().for_each(|call| call.join().unwrap());
        assert_eq!(presence.running(), 0);
        assert!(presence.is_closed());
    });
}

/// So many calls, and somebody who waits for them.
fn waited_for(calls: usize) {
    let (entry, crowd) = (Arc::new(Entry::new()), Arc::new(Crowd::new()));
    let state = Arc::new(State::new());
    let calls: Vec<_> = (0..calls)
        .map(|_| {
            let (entry, crowd) = (Arc::clone(&entry), Arc::clone(&crowd));
            let state = Arc::clone(&state);
            thread::spawn(move || call(&entry.presence, &crowd, &state))
        })
        .collect();
    crowd.leave(std::slice::from_ref(&entry));
    let (left, wait) = (crowd.close(), crowd.wait());
    block_on(poll_fn(|task| {
        // As `removal.rs` has it: register, then look.
        wait.register(task.waker());
        let running = |entry: Arc<Entry>| entry.presence.running() > 0;
        if left.iter().filter_map(Weak::upgrade).any(running) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }));
    state.take_away();
    calls.into_iter().for_each(|call| call.join().unwrap());
}

#[test]
fn l19_whoever_waits_is_told_by_the_last_call() {
    every_schedule("one call against a wait for it", || waited_for(1));
    most_schedules("two calls against a wait for both", || waited_for(2));
}

#[test]
fn l24_whoever_sees_a_handler_sees_its_list() {
    every_schedule("a length is published after its list, beside a first fire", || {
        let (point, list) = (Arc::new(PointState::new(NO_MARKS)), Arc::new(State::new()));
        let fires: Vec<_> = (0..2)
            .map(|_| {
                let (point, list) = (Arc::clone(&point), Arc::clone(&list));
                thread::spawn(move || {
                    let asked = point.listening().map_or_else(|| point.fire(|| Ok(())), Ok);
                    if asked == Ok::<_, ()>(Listening::Somebody) {
                        list.using();
                    }
                })
            })
            .collect();
        list.take_away();
        point.set_len(1);
        fires.into_iter().for_each(|fire| fire.join().unwrap());
        assert!(point.was_fired());
        assert!(point.has_handlers());
        point.set_len(0);
        assert!(point.is_quiet());
        assert_eq!(point.listening(), Some(Listening::Nobody));
    });
}

#[test]
fn l07_a_child_that_wakes_is_polled_again() {
    most_schedules("two children wake their task while the set is polled", || {
        let ready = [(); 2].map(|()| Arc::new(loom::sync::atomic::AtomicBool::new(false)));
        let mut waking = [None, None];
        let mut ended = [false; 2];
        let mut set = WokenSet::new(2, 2);
        block_on(poll_fn(|task| {
            set.poll(task, |index, child| {
                let (waker, ready) = (child.waker().clone(), Arc::clone(&ready[index]));
                waking[index].get_or_insert_with(|| {
                    let ready = Arc::clone(&ready);
                    thread::spawn(move || {
                        ready.store(true, Relaxed);
                        waker.wake();
                    })
                });
                // One that has ended may be woken once more.
                !ended[index] && {
                    ended[index] = ready.load(Relaxed);
                    ended[index]
                }
            })
        }));
        waking.into_iter().flatten().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn l07_a_child_that_was_shown_its_waker_before_is_polled_when_it_wakes() {
    most_schedules("a child wakes its task before or while the set is polled", || {
        let ready = Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let mut set = WokenSet::new(1, 2);
        let next = set.next();
        let waker = next.clone();
        set.keep_next(false);
        set.give_back(next);
        let waking = thread::spawn({
            let ready = Arc::clone(&ready);
            move || {
                ready.store(true, Relaxed);
                waker.wake();
            }
        });
        let mut ended = [false; 2];
        block_on(poll_fn(|task| {
            set.poll(task, |index, _| {
                let ends = !ended[index] && (index == 0 || ready.load(Relaxed));
                ended[index] |= ends;
                ends
            })
        }));
        assert_eq!(ended, [true; 2]);
        waking.join().unwrap();
    });
}
