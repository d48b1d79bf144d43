//! A plugin on its way out.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;

use crate::crowd::Crowd;
use crate::nesting;
use crate::observe::log;
use crate::panics::contained;
use crate::registry::entry::{Entry, Owner};
use crate::timer::Timer;

/// A plugin whose handlers are removed, and may still be running.
///
/// The removal has happened; dropping this changes nothing.
#[derive(Debug)]
pub struct PluginRemoval {
    removed: usize,
    /// `None` when nobody of that plugin can be running.
    leaving: Option<Leaving>,
}

/// Those that are on their way out.
#[derive(Debug)]
struct Leaving {
    who: Owner,
    crowd: Arc<Crowd>,
    /// Closed, so that each tells when its last call ends. Those that leave
    /// later are not waited for.
    handlers: Vec<Weak<Entry>>,
    timer: Arc<dyn Timer>,
}

impl Leaving {
    /// Those that still run, from that place on.
    fn running(&self, from: usize) -> impl Iterator<Item = (usize, Arc<Entry>)> {
        let handlers = self.handlers.iter().enumerate().skip(from);
        let known = handlers.filter_map(|(place, entry)| Some((place, entry.upgrade()?)));
        known.filter(|(_, entry)| entry.presence.running() > 0)
    }

    fn is_idle(&self) -> bool {
        self.running(0).next().is_none()
    }

    fn names_of_running(&self) -> Vec<String> {
        let mut running: Vec<_> = self.running(0).map(|(_, entry)| entry).collect();
        running.sort_by_key(|entry| entry.id);
        running.iter().map(|entry| entry.name.to_string()).collect()
    }

    /// The error of a wait that would be for itself.
    fn check_outside(&self) -> Result<(), DrainError> {
        if nesting::is_polling(self.crowd.id()) {
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
    /// A deadline was given where no timer can be had.
    #[error("there is no timer here to wait with: use `drained`, or give the registry a `Timer`")]
    NoTimer,
}

/// A plugin that has been uninstalled.
///
/// The plugin is gone in any case, so this may be left unread: a wait that was
/// refused is in the log.
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

    /// `removed` handlers have left with this call; those of the crowd that
    /// left before are waited for too.
    pub(crate) fn of(who: Owner, removed: usize, crowd: Arc<Crowd>, timer: Arc<dyn Timer>) -> Self {
        let handlers = crowd.close();
        Self { removed, leaving: Some(Leaving { who, crowd, handlers, timer }) }
    }

    /// How many handlers were removed.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// The handlers of the plugin that have left and still run.
    pub fn running(&self) -> Vec<String> {
        self.leaving.as_ref().map_or_else(Vec::new, Leaving::names_of_running)
    }

    /// Waits until no handler of the plugin that has left is running, for
    /// nobody else's.
    pub async fn drained(&self) -> Result<(), DrainError> {
        let Some(leaving) = &self.leaving else { return Ok(()) };
        let wait = leaving.crowd.wait();
        // None before this place runs any more: they are closed, so that one
        // that is idle stays so and is not looked at again.
        let mut from = 0;
        poll_fn(|task| {
            // Registered before looking: a handler that ends in between wakes.
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
