//! What the wait for a removal waits for.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use crate::engine::raw::{HandlerCell, Published, barrier_is_refused, chain};
use crate::plugin::lifecycle::Stop;
use crate::plugin::removal::DrainError;
use crate::plugin::tracker::CallTracker;
use crate::registry::entry::{Entry, Owner};

/// Handlers that were removed, and the runs of flows in which they have begun.
#[derive(Debug)]
pub(crate) struct Leaving {
    who: Owner,
    tracker: Arc<CallTracker>,
    /// Closed, so that each is dropped when its last call ends. Handlers that are
    /// removed later are not waited for. Sorted.
    handlers: Vec<u64>,
    runs: Runs,
}

/// The runs that are waited for.
#[derive(Clone, Copy, Debug)]
enum Runs {
    /// None: single handlers leave runs at once.
    None,
    /// Those in which handlers up to that generation have begun.
    UpTo(Option<u64>),
}

impl Leaving {
    /// All handlers of the tracker that were removed so far, up to that generation.
    pub(crate) fn whole(
        who: Owner,
        tracker: &Arc<CallTracker>,
        handlers: Vec<u64>,
        newest: Option<u64>,
    ) -> Self {
        Self { who, tracker: Arc::clone(tracker), handlers, runs: Runs::UpTo(newest) }
    }

    /// All that is left of a plugin, or of a block, whose registry is gone: it is
    /// dropped by the last to use the registry, which may be another thread.
    pub(crate) fn with_registry(
        who: Owner,
        tracker: &Arc<CallTracker>,
        newest: Option<u64>,
    ) -> Self {
        Self::whole(who, tracker, tracker.alive_up_to(newest), newest)
    }

    /// Some handlers of one tracker, at least one, in the order of their ids.
    pub(crate) fn single(handlers: &[Arc<Entry>]) -> Self {
        let (who, tracker) = (handlers[0].owner(), &handlers[0].tracker);
        Self::of(who, tracker, handlers.iter().map(|entry| entry.id).collect())
    }

    /// Some handlers of one tracker, none of which is registered any more.
    pub(crate) fn of(who: Owner, tracker: &Arc<CallTracker>, handlers: Vec<u64>) -> Self {
        Self { who, tracker: Arc::clone(tracker), handlers, runs: Runs::None }
    }

    pub(super) fn who(&self) -> &Owner {
        &self.who
    }

    /// Whether nothing is left.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone_from(&mut 0)
    }

    /// The same where all handlers before `from` are known to be dropped; moves
    /// `from` on.
    fn is_gone_from(&self, from: &mut usize) -> bool {
        *from = self.tracker.first_left(&self.handlers, *from).unwrap_or(self.handlers.len());
        // After the handlers: one that begins in a run has it noted before.
        *from == self.handlers.len() && !self.has_runs()
    }

    fn has_runs(&self) -> bool {
        match self.runs {
            Runs::None => false,
            Runs::UpTo(newest) => self.tracker.has_runs(newest),
        }
    }

    /// Whether stops of the plugin are left that another removal lets go of, or has
    /// let go of: each has the plugin's value.
    pub(super) fn has_stops(&self) -> bool {
        match self.runs {
            Runs::UpTo(Some(newest)) => self.tracker.has_stops(newest),
            Runs::UpTo(None) | Runs::None => false,
        }
    }

    /// Waits until no stop is left.
    pub(super) async fn stopped(&self) -> Result<(), DrainError> {
        let wait = self.tracker.wait();
        poll_fn(|task| {
            // Registered before the check: what ends in between wakes.
            wait.register(task.waker());
            if !self.has_stops() {
                return Poll::Ready(Ok(()));
            }
            match self.check_outside() {
                Ok(()) => Poll::Pending,
                inside => Poll::Ready(inside),
            }
        })
        .await
    }

    /// Waits until nothing is left.
    pub(super) async fn gone(&self) -> Result<(), DrainError> {
        let wait = self.tracker.wait();
        // All handlers before this place are dropped, and not looked at again.
        let mut from = 0;
        poll_fn(|task| {
            // Registered before the check: what ends in between wakes.
            wait.register(task.waker());
            if self.is_gone_from(&mut from) {
                return Poll::Ready(Ok(()));
            }
            match self.check_outside().and_then(|()| self.check_barrier()) {
                Ok(()) => Poll::Pending,
                refused => Poll::Ready(refused),
            }
        })
        .await
    }

    /// The error of a wait that has no end, because what threads run cannot be
    /// looked at.
    fn check_barrier(&self) -> Result<(), DrainError> {
        let is_refused = barrier_is_refused();
        if is_refused { Err(DrainError::NoBarrier { plugin: self.who.clone() }) } else { Ok(()) }
    }

    /// The names of the handlers that run, in the order of their registration.
    pub(super) fn running(&self) -> Vec<String> {
        let mut removed = self.tracker.removed_so_far();
        removed.retain(|(id, _)| self.handlers.binary_search(id).is_ok());
        if removed.is_empty() {
            return Vec::new();
        }
        let published = Published::now();
        let runs = |entry: &Entry| {
            let is_in_use = published.as_ref().map(|seen| HandlerCell::is_in_use(entry, seen));
            // One that is kept for a run alone does not run.
            is_in_use.unwrap_or(true) || !entry.is_kept()
        };
        removed.retain(|(_, handler)| handler.entry.upgrade().is_none_or(|entry| runs(&entry)));
        removed.iter().map(|(_, handler)| handler.name.to_string()).collect()
    }

    /// The runs that are under way, as a wait that gives up names them.
    pub(super) fn runs(&self) -> Vec<String> {
        let Runs::UpTo(newest) = self.runs else { return Vec::new() };
        let named = |(flow, count)| match count {
            1 => format!("a run of {flow}"),
            _ => format!("{count} runs of {flow}"),
        };
        self.tracker.runs_of(newest).into_iter().map(named).collect()
    }

    /// The error of a wait that would wait for itself.
    pub(super) fn check_outside(&self) -> Result<(), DrainError> {
        let plugin = || self.who.clone();
        let is_own = |handler: Option<u64>| match self.runs {
            Runs::None => handler.is_some_and(|id| self.handlers.binary_search(&id).is_ok()),
            Runs::UpTo(_) => true,
        };
        if self.tracker.is_dropping(is_own) {
            return Err(DrainError::InsideDrop { plugin: plugin() });
        }
        let runs =
            |entry: &Entry| entry.tracker.id() == self.tracker.id() && is_own(Some(entry.id));
        if chain::is_running(runs) || Stop::is_polling(&self.tracker) {
            return Err(DrainError::Inside { plugin: plugin() });
        }
        let Runs::UpTo(newest) = self.runs else { return Ok(()) };
        match self.tracker.flow_of(&chain::runs(), newest) {
            Some(flow) => Err(DrainError::InsideRun { plugin: plugin(), flow }),
            None => Ok(()),
        }
    }
}
