//! Handlers that are waited for together: a plugin's, or those of a block.

use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::task::Waker;

use crate::entry::Entry;
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
    /// Who waits for the last one to end.
    waiters: Mutex<Vec<Waker>>,
}

/// Those that have left the registry.
#[derive(Debug, Default)]
struct Left {
    entries: Vec<Weak<Entry>>,
    /// How many were still there when those that are gone were last taken out.
    kept: usize,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

impl Crowd {
    pub(crate) fn new() -> Self {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Self { id, left: Mutex::default(), waiters: Mutex::default() }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Notes that handlers have left the registry.
    pub(crate) fn leave(&self, entries: &[Arc<Entry>]) {
        let mut left = self.left();
        // Now and then: each time, many that leave one by one while a fire
        // keeps them would cost as many steps each.
        if left.entries.len() >= 2 * left.kept {
            left.entries.retain(|known| known.strong_count() > 0);
            left.kept = left.entries.len();
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

    pub(crate) fn wait(&self, waker: &Waker) {
        // A waker is the executor's code, and cloned outside the lock.
        let new = waker.clone();
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        let known = waiters.iter().any(|known| known.will_wake(waker));
        let spare = if known {
            Some(new)
        } else {
            waiters.push(new);
            None
        };
        drop(waiters);
        drop(spare);
    }

    /// Wakes everybody who waits, outside the lock.
    #[cold]
    pub(crate) fn wake(&self) {
        let waiters =
            std::mem::take(&mut *self.waiters.lock().unwrap_or_else(PoisonError::into_inner));
        for waiter in waiters {
            waiter.wake();
        }
    }
}

impl fmt::Debug for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crowd").field("id", &self.id).finish_non_exhaustive()
    }
}
