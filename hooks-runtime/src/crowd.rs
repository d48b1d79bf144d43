//! Handlers that are waited for together: a plugin's, or those of a block.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::task::Waker;

use crate::observe::log;
use crate::panics::{contained, drop_contained};
use crate::registry::entry::Entry;
use crate::sync::statics::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Handlers that are waited for together.
///
/// It knows those that have left the registry, whichever way, because a fire
/// under way may still be running them.
pub(crate) struct Crowd {
    /// Never zero, never reused.
    id: u64,
    left: Mutex<Left>,
    /// The wakers of those that wait for the last one to end, by the numbers
    /// of their waits.
    waiters: Mutex<BTreeMap<u64, Waker>>,
}

/// Those that have left.
#[derive(Default)]
struct Left {
    entries: Vec<Weak<Entry>>,
    /// At this length those that are gone are forgotten: seldom enough that
    /// leaving stays cheap however many have left.
    prune_at: usize,
}

/// Crowds and waits are numbered together.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

fn next_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

impl Crowd {
    pub(crate) fn new() -> Self {
        Self { id: next_id(), left: Mutex::default(), waiters: Mutex::default() }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Notes that handlers have left the registry.
    pub(crate) fn leave(&self, entries: &[Arc<Entry>]) {
        let mut left = self.left();
        if left.entries.len() >= left.prune_at {
            left.entries.retain(|known| known.strong_count() > 0);
            left.prune_at = (left.entries.len() * 2).max(16);
        }
        left.entries.extend(entries.iter().map(Arc::downgrade));
    }

    /// Lets fires under way start none of those that have left so far, and
    /// says who they are.
    pub(crate) fn close(&self) -> Vec<Weak<Entry>> {
        let left = self.left().entries.clone();
        // Upgraded outside the lock: the last reference to an entry must not
        // be dropped under it. The last one first, as whoever removes them does.
        for entry in left.iter().rev().filter_map(Weak::upgrade) {
            entry.presence.close();
        }
        left
    }

    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waiters(&self) -> MutexGuard<'_, BTreeMap<u64, Waker>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A wait for the last one to end.
    pub(crate) fn wait(&self) -> Wait<'_> {
        Wait { crowd: self, id: next_id() }
    }

    /// Wakes everybody who waits, outside the lock. A waker is the executor's
    /// code: one that panics keeps no other from being woken.
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

/// A wait for a crowd. Dropping it forgets its waker.
pub(crate) struct Wait<'c> {
    crowd: &'c Crowd,
    id: u64,
}

impl Wait<'_> {
    /// From now on `waker` is woken when a handler that has left ends.
    pub(crate) fn register(&self, waker: &Waker) {
        // Cloned and dropped outside the lock: both are the executor's code.
        let new = waker.clone();
        let old = self.crowd.waiters().insert(self.id, new);
        drop_contained("a waker", old);
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let waker = self.crowd.waiters().remove(&self.id);
        drop_contained("a waker", waker);
    }
}

impl fmt::Debug for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd").field("id", &self.id).finish_non_exhaustive()
    }
}
