//! The smallest pieces, each under every schedule that there is, with the
//! memory orderings they ask for and no stronger ones.
//!
//! These are the runtime's own files, included here with another `sync`, whose
//! types are the checker's. Of the engine, `invoke.rs`, `walk.rs` and
//! `pending.rs` are not included, because they need all of it: the few steps of
//! theirs that belong to a protocol are written down here, in their order and
//! with their orderings, and `plugin_removal.rs` runs the real ones.
//!
//! The reader's fence is one of the processor here. The checker takes accesses
//! that ask for `SeqCst` as `AcqRel` ones, so what holds here holds by the
//! fences alone.
#![cfg(schedules)]
#![allow(dead_code, missing_docs, unreachable_pub)]
// The included files have features that this package has not.
#![allow(unexpected_cfgs)]

/// The checker's types under the names of the runtime's `sync`.
mod sync {
    pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
    // Of those that the included files have, no two threads use the same one.
    pub(crate) use std::sync::OnceLock;

    pub(crate) mod statics {
        pub(crate) use std::sync::OnceLock;
        pub(crate) use std::sync::atomic::{AtomicU64, Ordering};
    }

    /// Made anew for each schedule: the checker's types cannot be in a static.
    macro_rules! global {
        (static $name:ident: $type:ty = $value:expr;) => {
            loom::lazy_static! {
                static ref $name: $type = $value;
            }
        };
    }

    /// The checker's own macro takes no `const` block.
    macro_rules! checked_thread_local {
        ($(#[$attr:meta])* static $name:ident: $type:ty = const { $value:expr };) => {
            loom::thread_local! {
                $(#[$attr])* static $name: $type = $value;
            }
        };
    }

    pub(crate) use {checked_thread_local as thread_local, global};
}

/// What the models have that `operator.rs` runs too, with another checker.
mod checker {
    pub(crate) use loom::sync::atomic;
    pub(crate) use loom::thread;
}

#[path = "words/stubs.rs"]
mod stubs;
use stubs::{call, condition, engine, frame, handler, observe, operator, plugin, point, registry};

#[path = "../../hooks-runtime/src/engine/raw/barrier.rs"]
mod barrier;
#[path = "../../hooks-runtime/src/operator/breaker/mod.rs"]
mod breaker;
#[path = "../../hooks-runtime/src/registry/entry.rs"]
mod entry;
#[path = "../../hooks-runtime/src/engine/raw/handler.rs"]
mod handler_cell;
#[path = "../../hooks-runtime/src/point/interest.rs"]
mod interest;
#[path = "../../hooks-runtime/src/registry/list.rs"]
mod list;
#[path = "../../hooks-runtime/src/flow/participants.rs"]
mod participants;
#[path = "../../hooks-runtime/src/operator/rate.rs"]
mod rate;
#[path = "../../hooks-runtime/src/engine/ready_set.rs"]
mod ready_set;
#[path = "../../hooks-runtime/src/registry/shards.rs"]
mod shards;
#[path = "../../hooks-runtime/src/engine/raw/snapshot.rs"]
mod snapshot;
#[path = "../../hooks-runtime/src/engine/raw/threads.rs"]
mod threads;
#[path = "../../hooks-runtime/src/plugin/tracker.rs"]
mod tracker;

// The models.
#[path = "words/breakers.rs"]
mod breakers;
#[path = "words/point_and_wakers.rs"]
mod point_and_wakers;
#[path = "words/rates.rs"]
mod rates;
#[path = "words/removal.rs"]
mod removal;
#[path = "words/runs.rs"]
mod runs;
#[path = "words/snapshots.rs"]
mod snapshots;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use threads::{ActiveStep, Nested};

/// Explores every schedule of `model`.
fn every_schedule(what: &str, model: impl Fn() + Send + Sync + 'static) {
    let explored = explore(None, model);
    println!("\nproof: schedules: {what}: all {explored} of them");
}

/// Explores the schedules of `model` in which at most so many steps are put off:
/// of three threads, or of long ones, there are too many others.
fn most_schedules(preemptions: usize, what: &str, model: impl Fn() + Send + Sync + 'static) {
    let explored = explore(Some(preemptions), model);
    println!("\nproof: schedules: {what}: all {explored} with at most {preemptions} preemptions");
}

fn explore(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) -> usize {
    let explored = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&explored);
    let mut checker = Builder::new();
    checker.preemption_bound = preemptions;
    // A look at all threads loads every step of every block.
    checker.max_branches = 10_000;
    checker.check(move || {
        counting.fetch_add(1, Relaxed);
        model();
    });
    explored.load(Relaxed)
}

/// Memory that is read, and freed once. It outlives what it stands for, so that
/// a use of freed memory is found and not made.
struct Memory {
    /// Finds a read that is not ordered before the end.
    content: UnsafeCell<u32>,
    freed: AtomicBool,
}

// SAFETY: that no one reads it while it is freed is what is checked.
#[allow(unsafe_code)]
unsafe impl Sync for Memory {}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Self { content: UnsafeCell::new(0), freed: AtomicBool::new(false) })
    }

    fn read(&self) {
        assert!(!self.is_freed(), "read after it was freed");
        self.content.with(|_| ());
    }

    fn write(&self) {
        self.content.with_mut(|_| ());
    }

    fn free(&self) {
        self.write();
        assert!(!self.freed.swap(true, Relaxed), "freed twice");
    }

    fn is_freed(&self) -> bool {
        self.freed.load(Relaxed)
    }
}

/// A fire that can be on the chain.
fn fire() -> Nested {
    Nested { point: &point::POINT, registry: 0, fire: 0 }
}

/// Puts a fire on the chain of this thread.
fn begin_fire() -> ActiveStep {
    ActiveStep::push(fire())
}
