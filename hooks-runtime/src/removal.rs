//! A plugin on its way out.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;

use crate::entry::Entry;
use crate::nesting;
use crate::plugins::PluginRecord;
use crate::timer::Timer;

/// A plugin whose handlers are removed, and may still be running.
///
/// The removal has happened; dropping this changes nothing.
#[derive(Debug)]
pub struct PluginRemoval {
    record: Option<Arc<PluginRecord>>,
    removed: Vec<Arc<Entry>>,
    timer: Option<Arc<dyn Timer>>,
}

/// Why a plugin could not be waited for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DrainError {
    /// The wait was asked for from inside a handler of that very plugin.
    #[error("plugin `{plugin}` cannot wait for itself: this is one of its own handlers")]
    Inside {
        /// The plugin's id.
        plugin: String,
    },
    /// The deadline passed while handlers were running.
    #[error("plugin `{plugin}` has handlers running after {waited:?}: {}", .running.join(", "))]
    StillRunning {
        /// The plugin's id.
        plugin: String,
        /// How long was waited.
        waited: Duration,
        /// The names of the handlers that run, in order of registration.
        running: Vec<String>,
    },
    /// A deadline was given where no timer can be had.
    #[error("there is no timer here to wait with: use `drained`, or give the registry a `Timer`")]
    NoTimer,
}

impl PluginRemoval {
    pub(crate) fn nothing() -> Self {
        Self { record: None, removed: Vec::new(), timer: None }
    }

    pub(crate) fn new(
        record: Arc<PluginRecord>,
        mut removed: Vec<Arc<Entry>>,
        timer: Arc<dyn Timer>,
    ) -> Self {
        removed.sort_by_key(|entry| entry.id);
        Self { record: Some(record), removed, timer: Some(timer) }
    }

    /// How many handlers were removed.
    pub fn removed(&self) -> usize {
        self.removed.len()
    }

    /// The removed handlers that are running right now.
    pub fn running(&self) -> Vec<String> {
        let running = self.removed.iter().filter(|entry| entry.presence.running() > 0);
        running.map(|entry| entry.name.to_string()).collect()
    }

    /// Waits until no handler of the plugin is running, for nobody else's.
    pub async fn drained(&self) -> Result<(), DrainError> {
        poll_fn(|task| {
            let Some(record) = &self.record else { return Poll::Ready(Ok(())) };
            // Sign up before looking: a handler that ends in between wakes us.
            record.wait(task.waker());
            if self.removed.iter().all(|entry| entry.presence.running() == 0) {
                Poll::Ready(Ok(()))
            } else if nesting::is_polling(record.stay()) {
                Poll::Ready(Err(DrainError::Inside { plugin: record.id().to_string() }))
            } else {
                Poll::Pending
            }
        })
        .await
    }

    /// As [`drained`](Self::drained), but gives up after `limit` and names the
    /// handlers that still run.
    pub async fn drained_within(&self, limit: Duration) -> Result<(), DrainError> {
        let (Some(record), Some(timer)) = (&self.record, &self.timer) else { return Ok(()) };
        if self.running().is_empty() {
            return Ok(());
        }
        let mut deadline = timer.sleep(limit).ok_or(DrainError::NoTimer)?;
        let mut drained = std::pin::pin!(self.drained());
        poll_fn(|task| {
            if let Poll::Ready(done) = drained.as_mut().poll(task) {
                return Poll::Ready(done);
            }
            deadline.as_mut().poll(task).map(|()| {
                Err(DrainError::StillRunning {
                    plugin: record.id().to_string(),
                    waited: limit,
                    running: self.running(),
                })
            })
        })
        .await
    }
}
