//! Where time limits get their time from.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use crate::engine::containment::{contained, drop_contained};
#[cfg(feature = "tokio")]
use crate::engine::probe::probe;

/// A wait, boxed: it is made only for a handler that waits with a limit.
///
/// The example of [`Timer`] returns one.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of waits, asked only when a handler with a time limit is pending.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::timer::{Sleep, Timer};
/// # hook_points! { #[hook(on_failure = "closed")] pub void Asked { peer: String } }
/// /// A clock on which every limit has passed: for tests.
/// #[derive(Debug)]
/// struct Impatient;
///
/// impl Timer for Impatient {
///     fn sleep(&self, _: Duration) -> Option<Sleep> {
///         Some(Box::pin(async {}))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().timer(Impatient).build();
/// let slow = on::<Asked>().name("slow").timeout(Duration::from_secs(60));
/// hooks.register(slow.handler(async |_: &AskedPayload| std::future::pending::<()>().await))?;
/// let error = hooks.fire_void::<Asked>(&AskedPayload { peer: "p".into() }).await.unwrap_err();
/// assert_eq!(error.to_string(), "handler `slow` (built-in) at `asked`: did not finish within 60s");
/// # Ok(()) }
/// ```
pub trait Timer: Debug + Send + Sync + 'static {
    /// A future that ends after `duration`, or `None` where there is no timer
    /// to be had. It must not panic.
    fn sleep(&self, duration: Duration) -> Option<Sleep>;

    /// What time it is, for what an operator sets with an end, rate limits and breakers:
    /// on the same clock as [`sleep`](Self::sleep). The default is the system's.
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// What time it is. A timer is code of the host, and may panic.
pub(crate) fn now(timer: &dyn Timer) -> Instant {
    try_now(timer).unwrap_or_else(Instant::now)
}

/// The same; `None` where the clock cannot be read.
pub(crate) fn try_now(timer: &dyn Timer) -> Option<Instant> {
    contained(|| timer.now()).ok()
}

/// The time of the system, for people. Miri has none, unless its programs see the world
/// around them.
pub(crate) fn system_now() -> SystemTime {
    if cfg!(miri) { SystemTime::UNIX_EPOCH } else { SystemTime::now() }
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
///
/// Build the runtime with `enable_time`, or give the registry a [`Timer`] of your own.
/// In a runtime without time a handler that waits with a limit fails with
/// [`FailureKind::NoTimer`](crate::error::FailureKind), and nothing is printed.
///
/// # The panic hook
///
/// Tokio cannot be asked whether a runtime was built with time: it panics. That panic is
/// caught, but the panic hook of the process, which prints by default, is called before.
/// Therefore the first wait with a limit wraps that hook, once in a process. The wrapper
/// passes over what tokio panics with when this timer asks it for a wait, and calls the
/// hook that was there before for every other panic, on every thread. Where that matters:
///
/// - A hook that the program sets after the first such wait is used as it is. It then gets
///   tokio's panic too.
/// - With `panic = "abort"` nothing can be caught, so the hook is left alone, and a limit in a
///   runtime without time ends the process with tokio's message. `enable_time` is needed
///   there.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::timer::{Timer, TokioTimer};
///
/// // There is none outside of a runtime: handlers with a limit then fail at once.
/// assert!(TokioTimer.sleep(Duration::from_secs(1)).is_none());
/// ```
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug, Default)]
pub struct TokioTimer;

#[cfg(feature = "tokio")]
impl Timer for TokioTimer {
    fn sleep(&self, duration: Duration) -> Option<Sleep> {
        tokio::runtime::Handle::try_current().ok()?;
        // A runtime without time cannot be distinguished from one with it, but making
        // the wait panics there.
        probe(|| -> Sleep { Box::pin(tokio::time::sleep(duration)) })
    }

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
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
