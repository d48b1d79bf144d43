//! The wait for the fires in the background.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;

use crate::plugin::scope::ScopedHooks;
use crate::readable::readable_debug;
use crate::timer::Deadline;

impl ScopedHooks {
    /// A wait for all void fires of this registry that were handed over to the
    /// background before this call, through whichever scope.
    ///
    /// | call | waits |
    /// |---|---|
    /// | `hooks.settled().await?` | until all of them have ended |
    /// | `hooks.settled().within(limit).await?` | the same, or an error that says how many are left after the limit |
    ///
    /// Asked from inside of one of them it is an error, not a wait for itself.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Logged { line: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register_void::<Logged>(async |_: &LoggedPayload| tokio::task::yield_now().await)?;
    /// hooks.spawn_void::<Logged>(LoggedPayload { line: "shutting down".into() });
    /// hooks.settled().within(Duration::from_secs(5)).await?;
    /// assert_eq!(hooks.handlers()[0].calls, 1);
    /// # Ok(()) }
    /// ```
    pub fn settled(&self) -> Settled {
        Settled { hooks: self.clone(), before: self.inner.background.so_far() }
    }
}

/// A wait for the fires in the background; see [`ScopedHooks::settled`].
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Cleaned { folder: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register_void::<Cleaned>(async |_: &CleanedPayload| ())?;
/// hooks.spawn_void::<Cleaned>(CleanedPayload { folder: "target".into() });
/// let settled = hooks.settled();
/// assert_eq!(settled.running(), 1);
/// settled.clone().await?;
/// assert_eq!(settled.running(), 0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a wait does nothing unless it is awaited"]
pub struct Settled {
    hooks: ScopedHooks,
    /// Those with a lower number are waited for.
    before: u64,
}

/// Why a wait for the fires in the background ended before them.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::background::SettleError;
/// # hook_points! { pub void Polling { feed: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register_void::<Polling>(async |_: &PollingPayload| std::future::pending::<()>().await)?;
/// hooks.spawn_void::<Polling>(PollingPayload { feed: "news".into() });
/// let limit = Duration::from_millis(1);
/// let error = hooks.settled().within(limit).await.unwrap_err();
/// assert_eq!(error, SettleError::StillRunning { running: 1, waited: limit });
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettleError {
    /// It was asked for inside of one of them, so it would wait for itself.
    #[error(
        "a fire in the background cannot wait for the fires in the background, of which it is \
         one: call `settled` where the program shuts down"
    )]
    Inside,
    /// Some were still under way when the limit had passed.
    #[error(
        "after {waited:?} the background has not settled, fires under way: {running}; wait again, or \
         give their handlers a time limit"
    )]
    StillRunning {
        /// How many.
        running: usize,
        /// The limit.
        waited: Duration,
    },
    /// There is no timer to measure the limit with.
    #[error(
        "there is no timer here to wait with a limit: call it inside a tokio runtime with time \
         enabled, or build the registry with `timer`"
    )]
    NoTimer,
}

readable_debug! { enum SettleError { Inside, StillRunning { running, waited }, NoTimer } }

impl Settled {
    /// The number of fires that it still waits for.
    pub fn running(&self) -> usize {
        self.hooks.inner.background.active_before(self.before)
    }

    async fn ended(&self) -> Result<(), SettleError> {
        let tasks = &self.hooks.inner.background;
        let wait = tasks.wait();
        poll_fn(|task| {
            // Registered before the check: what ends in between wakes.
            wait.register(task.waker());
            match self.running() {
                0 => Poll::Ready(Ok(())),
                _ if tasks.is_inside() => Poll::Ready(Err(SettleError::Inside)),
                _ => Poll::Pending,
            }
        })
        .await
    }

    /// Waits until all have ended, but gives up after `limit` and says how many have
    /// not. It can be waited for again afterwards.
    ///
    /// The example of [`SettleError`] has a wait that gives up.
    pub async fn within(&self, limit: Duration) -> Result<(), SettleError> {
        if self.running() == 0 {
            return Ok(());
        }
        let timer = &*self.hooks.inner.config.timer;
        let mut deadline = Deadline::after(limit, timer).ok_or(SettleError::NoTimer)?;
        let mut ended = pin!(self.ended());
        poll_fn(|task| {
            if let Poll::Ready(ended) = ended.as_mut().poll(task) {
                return Poll::Ready(ended);
            }
            let passed = match deadline.poll(task) {
                Some(Poll::Pending) => return Poll::Pending,
                Some(Poll::Ready(())) => match self.running() {
                    // What ended in the meantime is no error.
                    0 => Ok(()),
                    running => Err(SettleError::StillRunning { running, waited: limit }),
                },
                None => Err(SettleError::NoTimer),
            };
            Poll::Ready(passed)
        })
        .await
    }
}

/// Waits until all have ended.
impl IntoFuture for Settled {
    type Output = Result<(), SettleError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.ended().await })
    }
}
