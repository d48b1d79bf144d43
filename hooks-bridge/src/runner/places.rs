//! How many run at once, and until when.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::failure::{Cause, Failure};
use super::limits::Limits;

/// The longest limit; the clock ends somewhere behind it.
pub(crate) const LONGEST: Duration = Duration::from_hours(365 * 24);

/// The places of those that run: commands and requests share them.
#[derive(Clone, Debug)]
pub(super) struct Places {
    waited_for: Arc<Semaphore>,
    /// For those that nothing waits for, so that they hold up none that is waited for.
    beside: Arc<Semaphore>,
}

/// A place, held until it is dropped, and the time that is left in it.
#[derive(Debug)]
pub(crate) struct Place {
    /// How long the run may take, its wait for the place included.
    pub(crate) limit: Duration,
    /// When that ends.
    pub(crate) deadline: Instant,
    /// Whether others had to end first.
    pub(crate) waited: bool,
    _permit: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new(limits: &Limits) -> Self {
        let most = limits.concurrent.clamp(1, Semaphore::MAX_PERMITS);
        let places = || Arc::new(Semaphore::new(most));
        Self { waited_for: places(), beside: places() }
    }

    /// The same for what nothing waits for.
    pub(super) fn beside(&self) -> Self {
        Self { waited_for: Arc::clone(&self.beside), beside: Arc::clone(&self.beside) }
    }

    /// Waits for a place, on the run's own time.
    pub(super) async fn take(&self, limits: &Limits, limit: Duration) -> Result<Place, Failure> {
        let limit = limits.timeout.map_or(limit, |longest| limit.min(longest));
        // A limit beyond the clock is none that is ever met.
        let limit = limit.min(LONGEST);
        let deadline = Instant::now() + limit;
        let place = |permit, waited| Place { limit, deadline, waited, _permit: permit };
        if let Ok(permit) = Arc::clone(&self.waited_for).try_acquire_owned() {
            return Ok(place(permit, false));
        }
        let permit = timeout_at(deadline, Arc::clone(&self.waited_for).acquire_owned()).await;
        // The semaphore is never closed.
        match permit {
            Ok(Ok(permit)) => Ok(place(permit, true)),
            Ok(Err(_)) | Err(_) => Err(Failure::new(Cause::Busy(limit))),
        }
    }
}
