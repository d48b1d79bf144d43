//! Where time limits get their time from.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::engine::containment::{contained, drop_contained};

/// A wait, boxed: it is made only for a handler that waits with a limit.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of waits, asked only when a handler with a time limit is pending.
pub trait Timer: Debug + Send + Sync + 'static {
    /// A future that ends after `duration`, or `None` where there is no timer
    /// to be had. It must not panic.
    fn sleep(&self, duration: Duration) -> Option<Sleep>;
}

/// The end of a wait with a limit. It is the timer's code, as is its drop: a timer may
/// panic if its runtime has ended.
pub(crate) struct Deadline(Sleep);

impl Deadline {
    /// `None` where there is no timer.
    pub(crate) fn after(limit: Duration, timer: &dyn Timer) -> Option<Self> {
        contained(|| timer.sleep(limit)).ok().flatten().map(Self)
    }

    /// Whether it has passed; `None` where there is no timer any more.
    pub(crate) fn poll(&mut self, task: &mut Context<'_>) -> Option<Poll<()>> {
        contained(|| self.0.as_mut().poll(task)).ok()
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let sleep = std::mem::replace(&mut self.0, Box::pin(std::future::pending()));
        drop_contained("a timer", sleep);
    }
}

/// Tokio's timer: follows `tokio::time::pause`, and is absent outside a
/// runtime or in one built without time.
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    fn sleep(&self, duration: Duration) -> Option<Sleep> {
        tokio::runtime::Handle::try_current().ok()?;
        // A runtime without time cannot be distinguished from one with it, but making
        // the wait panics there.
        contained(|| -> Sleep { Box::pin(tokio::time::sleep(duration)) }).ok()
    }
}

/// No timer: a handler with a limit that has to wait fails at once.
#[cfg(not(feature = "tokio"))]
#[derive(Clone, Copy, Debug, Default)]
struct NoTimer;

#[cfg(not(feature = "tokio"))]
impl Timer for NoTimer {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }
}

/// The timer of a registry that is given none.
pub(crate) fn default_timer() -> Arc<dyn Timer> {
    #[cfg(feature = "tokio")]
    return Arc::new(TokioTimer);
    #[cfg(not(feature = "tokio"))]
    return Arc::new(NoTimer);
}
