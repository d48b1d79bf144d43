//! Where time limits get their time from.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// A wait, boxed: it is made only for a handler that waits with a limit.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of waits, asked only when a handler with a time limit is pending.
pub trait Timer: Debug + Send + Sync + 'static {
    /// A future that ends after `duration`, or `None` where there is no timer
    /// to be had. It must not panic.
    fn sleep(&self, duration: Duration) -> Option<Sleep>;
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
        crate::engine::containment::contained(|| -> Sleep {
            Box::pin(tokio::time::sleep(duration))
        })
        .ok()
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
