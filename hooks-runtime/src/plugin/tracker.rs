//! Handlers that are waited for together: a plugin's, or those of a block.
//!
//! A removal closes handlers, then releases those that no thread runs and no
//! fire has a pending call of. The others are released by the last code that uses
//! them: a walk that sees that handlers were removed, or a pending call that ends.
//! So what a handler captured is dropped as soon as nothing uses it, also where
//! the removal is not awaited, and whichever fires still hold its list.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::task::Waker;

use crate::engine::containment::{contained, drop_contained};
use crate::engine::raw::{HandlerCell, Published};
use crate::observe::log;
use crate::registry::entry::Entry;
use crate::sync::statics::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Handlers that are waited for together.
pub(crate) struct CallTracker {
    /// Never zero, never reused.
    id: u64,
    removed: Mutex<Removed>,
    /// The wakers of the waits for the last handler to be released, by the
    /// number of the wait.
    waiters: Mutex<BTreeMap<u64, Waker>>,
}

/// The handlers that were removed from the registry and may still be running.
#[derive(Default)]
struct Removed {
    entries: Vec<Weak<Entry>>,
    /// At this length the released handlers are taken out: seldom enough that a
    /// removal stays cheap however many there were.
    prune_at: usize,
}

/// Trackers and waits are numbered together.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl CallTracker {
    pub(crate) fn new() -> Self {
        Self { id: next_id(), removed: Mutex::default(), waiters: Mutex::default() }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Notes that handlers were removed from the registry.
    pub(crate) fn removed(&self, entries: &[Arc<Entry>]) {
        let mut removed = self.removed_entries();
        if removed.entries.len() >= removed.prune_at {
            // Only borrowed: the last reference to an entry must not be dropped
            // under the lock.
            removed.entries.retain(|known| known.strong_count() > 0);
            removed.prune_at = (removed.entries.len() * 2).max(16);
        }
        removed.entries.extend(entries.iter().map(Arc::downgrade));
    }

    /// The handlers that were removed so far and are still referenced.
    pub(crate) fn removed_so_far(&self) -> Vec<Weak<Entry>> {
        self.removed_entries().entries.clone()
    }

    /// Releases the closed handlers that nothing runs.
    pub(crate) fn release(&self) {
        let removed = self.removed_so_far();
        let removed = removed.iter().filter_map(Weak::upgrade);
        release(&removed.collect::<Vec<_>>());
    }

    fn removed_entries(&self) -> MutexGuard<'_, Removed> {
        self.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiters(&self) -> MutexGuard<'_, BTreeMap<u64, Waker>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A wait for the last handler to be released.
    pub(crate) fn wait(&self) -> Wait<'_> {
        Wait { tracker: self, id: next_id() }
    }

    /// Wakes all waits, outside the lock. A waker is the executor's code: a waker
    /// that panics does not keep the others from being woken.
    #[cold]
    pub(crate) fn wake(&self) {
        let waiters = std::mem::take(&mut *self.waiters());
        for (_, waiter) in waiters {
            if let Err(message) = contained(|| waiter.wake()) {
                log::waker_panicked(&message);
            }
        }
    }
}

/// Releases those of the closed handlers that nothing runs, and wakes the waits
/// for them.
pub(crate) fn release(closed: &[Arc<Entry>]) {
    // Before the look at the threads, see `is_releasable`.
    let is_due =
        |entry: &&Arc<Entry>| entry.handler.is_releasable() && !entry.handler.is_released();
    let closed: Vec<_> = closed.iter().filter(is_due).collect();
    if closed.is_empty() {
        return;
    }
    let Some(published) = Published::now() else { return };
    let mut trackers: Vec<&Arc<CallTracker>> = Vec::new();
    for entry in closed {
        if HandlerCell::release(entry, &published)
            && let Some(tracker) = &entry.tracker
            && !trackers.iter().any(|known| Arc::ptr_eq(known, tracker))
        {
            trackers.push(tracker);
        }
    }
    for tracker in trackers {
        tracker.wake();
    }
}

/// A wait for a tracker. Dropping it unregisters its waker.
pub(crate) struct Wait<'t> {
    tracker: &'t CallTracker,
    id: u64,
}

impl Wait<'_> {
    /// Registers `waker`, to be woken when a removed handler is released.
    pub(crate) fn register(&self, waker: &Waker) {
        // Cloned and dropped outside the lock: both are the executor's code.
        let new = waker.clone();
        let old = self.tracker.waiters().insert(self.id, new);
        drop_contained("a waker", old);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let waker = self.tracker.waiters().remove(&self.id);
        drop_contained("a waker", waker);
    }
}

impl fmt::Debug for CallTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallTracker").field("id", &self.id).finish_non_exhaustive()
    }
}
