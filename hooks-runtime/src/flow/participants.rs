//! The owners whose handlers have begun in one run of a flow.
//!
//! A removal of such an owner waits for the run, and the run still comes to the
//! owner's handlers of `OnError` and `Finally`, so that it can close what it
//! opened.

use std::ptr;
use std::sync::{Arc, PoisonError};

use crate::plugin::tracker::CallTracker;
use crate::registry::entry::Entry;
use crate::sync::{Mutex, MutexGuard};

/// The owners whose handlers have begun in one run of a flow. Dropped last of
/// all that the run has: then the run has ended for them.
#[derive(Debug)]
pub(crate) struct Participants {
    flow: &'static str,
    begun: Mutex<Vec<Arc<CallTracker>>>,
}

/// What the owner of a handler is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No handler of it has begun before.
    New,
    /// It has begun.
    Begun,
    /// It is never waited for, or there is no run.
    Unknown,
}

impl Participants {
    pub(crate) fn new(flow: &'static str) -> Self {
        Self { flow, begun: Mutex::default() }
    }

    /// The id of the run: this address. It is a local of the run's future, which
    /// does not move while it is polled.
    pub(crate) fn id(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    fn begun(&self) -> MutexGuard<'_, Vec<Arc<CallTracker>>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a handler is about to be called; what its owner was before.
    pub(crate) fn join(&self, entry: &Entry) -> Standing {
        if !entry.joins_runs() {
            return Standing::Unknown;
        }
        let tracker = &entry.tracker;
        let mut begun = self.begun();
        // All handlers of a run are of one version of their plugin.
        if begun.iter().any(|known| Arc::ptr_eq(known, tracker)) {
            return Standing::Begun;
        }
        tracker.run_begun(self.id(), self.flow, entry.generation());
        begun.push(Arc::clone(tracker));
        Standing::New
    }

    /// Takes back that its owner has begun, where it was the first of its handlers.
    pub(crate) fn stand_back(&self, entry: &Entry) {
        let tracker = &entry.tracker;
        self.begun().retain(|known| !Arc::ptr_eq(known, tracker));
        tracker.run_ended(self.id());
    }
}

impl Drop for Participants {
    fn drop(&mut self) {
        // Not under the lock: what is released is code of the user.
        for tracker in std::mem::take(&mut *self.begun()) {
            tracker.run_ended(self.id());
        }
    }
}
