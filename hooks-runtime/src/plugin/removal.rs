//! The removal of a plugin, and the wait for its calls.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;

use crate::engine::containment::contained;
use crate::engine::raw::chain;
use crate::engine::timer::Timer;
use crate::observe::log;
use crate::plugin::tracker::CallTracker;
use crate::registry::entry::{Entry, Owner};

/// A plugin whose handlers are removed, and may still be running.
///
/// The removal has happened; dropping this changes nothing.
#[derive(Debug)]
pub struct PluginRemoval {
    removed: usize,
    /// `None` when no handler of that plugin can be running.
    leaving: Option<Leaving>,
}

/// The handlers that are being removed.
#[derive(Debug)]
struct Leaving {
    who: Owner,
    tracker: Arc<CallTracker>,
    /// Closed, so that each is released when its last call ends. Handlers that
    /// are removed later are not waited for.
    handlers: Vec<Weak<Entry>>,
    timer: Arc<dyn Timer>,
}

impl Leaving {
    /// The handlers from that place on that still run.
    fn running(&self, from: usize) -> impl Iterator<Item = (usize, Arc<Entry>)> {
        let handlers = self.handlers.iter().enumerate().skip(from);
        let known = handlers.filter_map(|(place, entry)| Some((place, entry.upgrade()?)));
        known.filter(|(_, entry)| !entry.handler.is_released())
    }

    fn is_idle(&self) -> bool {
        self.running(0).next().is_none()
    }

    fn names_of_running(&self) -> Vec<String> {
        let mut running: Vec<_> = self.running(0).map(|(_, entry)| entry).collect();
        running.sort_by_key(|entry| entry.id);
        running.iter().map(|entry| entry.name.to_string()).collect()
    }

    /// The error of a wait that would wait for itself.
    fn check_outside(&self) -> Result<(), DrainError> {
        let is_own = |entry: &Entry| {
            entry.tracker.as_ref().is_some_and(|tracker| tracker.id() == self.tracker.id())
        };
        if chain::is_running(is_own) {
            Err(DrainError::Inside { plugin: self.who.clone() })
        } else {
            Ok(())
        }
    }
}

/// Why a plugin could not be waited for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DrainError {
    /// The wait was asked for from inside a handler of that very plugin.
    #[error("{plugin} cannot wait for itself: this is one of its own handlers")]
    Inside {
        /// Whose handlers they are.
        plugin: Owner,
    },
    /// The deadline passed while handlers were running.
    #[error("{plugin} has handlers running after {waited:?}: {}", .running.join(", "))]
    StillRunning {
        /// Whose handlers they are.
        plugin: Owner,
        /// How long was waited.
        waited: Duration,
        /// The names of the handlers that run, in order of registration.
        running: Vec<String>,
    },
    /// A deadline was set where no timer is available.
    #[error("there is no timer here to wait with: use `drained`, or give the registry a `Timer`")]
    NoTimer,
}

/// A plugin that has been uninstalled.
///
/// The plugin is removed in any case, so this may be ignored: a wait that was
/// refused is logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uninstalled(Result<(), DrainError>);

impl Uninstalled {
    pub(crate) fn after(wait: Result<(), DrainError>) -> Self {
        if let Err(error) = &wait {
            log::uninstalled_without_wait(error);
        }
        Self(wait)
    }

    /// Whether none of the plugin's handlers is running any more.
    pub fn is_drained(&self) -> bool {
        self.0.is_ok()
    }

    /// The same, with the reason why they could not be waited for.
    pub fn into_result(self) -> Result<(), DrainError> {
        self.0
    }
}

impl PluginRemoval {
    pub(crate) fn nothing() -> Self {
        Self { removed: 0, leaving: None }
    }

    /// `removed` handlers were removed by this call; handlers of the tracker that
    /// were removed before are waited for too.
    pub(crate) fn new(
        who: Owner,
        removed: usize,
        tracker: Arc<CallTracker>,
        handlers: Vec<Weak<Entry>>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        Self { removed, leaving: Some(Leaving { who, tracker, handlers, timer }) }
    }

    /// How many handlers were removed.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// The removed handlers of the plugin that still run.
    pub fn running(&self) -> Vec<String> {
        self.leaving.as_ref().map_or_else(Vec::new, Leaving::names_of_running)
    }

    /// Waits until no removed handler of the plugin is running. Handlers of other
    /// owners are not waited for.
    pub async fn drained(&self) -> Result<(), DrainError> {
        let Some(leaving) = &self.leaving else { return Ok(()) };
        let wait = leaving.tracker.wait();
        // No handler before this place runs any more: they are closed, so one
        // that is idle stays idle and is not checked again.
        let mut from = 0;
        poll_fn(|task| {
            // Registered before the check: a handler that ends in between wakes.
            wait.register(task.waker());
            match leaving.running(from).next() {
                Some((place, _)) => from = place,
                None => return Poll::Ready(Ok(())),
            }
            match leaving.check_outside() {
                Ok(()) => Poll::Pending,
                inside => Poll::Ready(inside),
            }
        })
        .await
    }

    /// As [`drained`](Self::drained), but gives up after `limit` and names the
    /// handlers that still run.
    pub async fn drained_within(&self, limit: Duration) -> Result<(), DrainError> {
        let Some(leaving) = &self.leaving else { return Ok(()) };
        if leaving.is_idle() {
            return Ok(());
        }
        leaving.check_outside()?;
        // A timer may panic, here and below, where its runtime has ended.
        let deadline = contained(|| leaving.timer.sleep(limit)).ok().flatten();
        let mut deadline = deadline.ok_or(DrainError::NoTimer)?;
        let mut drained = pin!(self.drained());
        poll_fn(|task| {
            if let Poll::Ready(done) = drained.as_mut().poll(task) {
                return Poll::Ready(done);
            }
            match contained(|| deadline.as_mut().poll(task)) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(())) => Poll::Ready(Err(DrainError::StillRunning {
                    plugin: leaving.who.clone(),
                    waited: limit,
                    running: leaving.names_of_running(),
                })),
                Err(_) => Poll::Ready(Err(DrainError::NoTimer)),
            }
        })
        .await
    }
}
