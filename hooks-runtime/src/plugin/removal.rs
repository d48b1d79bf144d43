//! A removal, and the wait for what is left of it.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use thiserror::Error;

use crate::observe::log;
use crate::plugin::leaving::Leaving;
use crate::plugin::lifecycle::{Stop, StopFailure};
use crate::readable::readable_debug;
use crate::registry::entry::Owner;
use crate::timer::{Deadline, Timer, default_timer};

/// What every way to remove handlers returns.
///
/// The removal has happened, at one instant; dropping this changes nothing.
/// Awaited, it waits until nothing of what was removed is left:
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, on};
/// # hooks_runtime::hook_points! { pub void Saved { page: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// # let handle = hooks.register_void::<Saved>(async |_: &SavedPayload| ())?;
/// # hooks.register(on::<Saved>().plugin("audit").handler(|_: &SavedPayload| ()))?;
/// # hooks.register(on::<Saved>().plugin("backup").handler(|_: &SavedPayload| ()))?;
/// handle.unregister();                       // removed
/// hooks.unregister_plugin("audit").await;    // removed, and waited for
/// let removal = hooks.unregister_plugin("backup");
/// println!("{} removed, still running: {:?}", removal.removed(), removal.running());
/// removal.within(Duration::from_secs(5)).await?; // or else which are left
/// # Ok(()) }
/// ```
///
/// | written | gives |
/// |---|---|
/// | `removal.await` | a [`DrainOutcome`], which may be ignored |
/// | `removal.await.into_result()?` | an error where the wait was refused or a `#[stop]` failed |
/// | `removal.within(limit).await?` | the same, or an error that says what is left after the limit |
/// | `tokio::spawn(removal.into_future())` | a task that waits: a `Removal` becomes a future by [`IntoFuture`] |
///
/// The wait is for the calls of these handlers and for no others. Where a plugin
/// with a `#[stop]` leaves, the wait then runs that; a removal that is dropped before
/// reports that it was skipped. A reference can be awaited too, as often as wanted.
#[derive(Debug)]
pub struct Removal {
    removed: usize,
    leaving: Vec<Leaving>,
    /// What is run after the last call, in this order.
    stops: Vec<Arc<Stop>>,
    /// `None` where the registry is gone, or nothing is left to wait for: a deadline
    /// is kept by the default timer then.
    timer: Option<Arc<dyn Timer>>,
}

/// Why what was removed could not be waited for.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::plugin::DrainError;
/// # hook_points! { pub void Copied { file: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let copy = on::<Copied>().name("copy").plugin("backup");
/// hooks.register(copy.handler(async |_: &CopiedPayload| std::future::pending::<()>().await))?;
/// let fire = hooks.spawn_void::<Copied>(CopiedPayload { file: "a".into() });
/// tokio::task::yield_now().await; // the fire is under way, and never ends
/// let left = hooks.unregister_plugin("backup").within(Duration::from_millis(1)).await;
/// let Err(DrainError::StillRunning { running, .. }) = left else { panic!("{left:?}") };
/// assert_eq!(running, ["copy"]);
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DrainError {
    /// The wait was asked for from inside one of the handlers that it is for.
    #[error(
        "{plugin} cannot wait for itself: this is one of its own handlers; await the removal outside \
         of them, or drop it"
    )]
    Inside {
        /// Whose handlers they are.
        plugin: Owner,
    },
    /// The wait was asked for from inside a run of a flow in which the plugin has
    /// begun: by the operation, or by a handler of another owner. The run would
    /// wait for the wait, and the wait for the run.
    #[error(
        "{plugin} cannot be waited for here: this is inside a run of {flow}, in which it has begun"
    )]
    InsideRun {
        /// Whose handlers they are.
        plugin: Owner,
        /// The wire name of the flow.
        flow: &'static str,
    },
    /// The wait was asked for while what a handler of that very plugin captured
    /// is dropped.
    #[error(
        "{plugin} cannot wait for itself: this is the drop of what its handlers captured; await the \
         removal outside of it, or drop it"
    )]
    InsideDrop {
        /// Whose handlers they are.
        plugin: Owner,
    },
    /// The deadline passed while handlers were running, or runs of flows in which
    /// the plugin has begun were under way.
    #[error(
        "{plugin} has {} after {waited:?}: {}; wait again, or longer",
        if *.runs < .running.len() { "handlers running" } else { "runs under way" },
        .running.join(", ")
    )]
    StillRunning {
        /// Whose handlers they are.
        plugin: Owner,
        /// How long was waited.
        waited: Duration,
        /// What is left: the names of the handlers that run, in order of
        /// registration, then the runs, each as `a run of tools:call-tool`.
        running: Vec<String>,
        /// How many of those, at the end, are runs.
        runs: usize,
    },
    /// The calls have ended, and the deadline passed while the plugin's `#[stop]` was
    /// running. A later wait goes on with it; it is dropped with the removal.
    #[error(
        "{plugin} has not stopped after {waited:?}: its `#[stop]` has not ended; wait again, or \
         longer"
    )]
    StillStopping {
        /// Whose stop it is.
        plugin: Owner,
        /// How long was waited.
        waited: Duration,
    },
    /// The calls have ended, and the plugin's `#[stop]` failed.
    #[error("the `#[stop]` of {plugin} failed: {failure}")]
    StopFailed {
        /// Whose stop it is.
        plugin: Owner,
        /// How it failed.
        failure: StopFailure,
    },
    /// The kernel refuses the system call `membarrier`, which it had accepted when
    /// the program began: without it, what other threads run cannot be known.
    #[error(
        "{plugin} cannot be waited for: the system call `membarrier` is refused, and was not when \
         the first fire began; a filter of system calls is to be set before that"
    )]
    NoBarrier {
        /// Whose handlers they are.
        plugin: Owner,
    },
    /// A deadline was set where no timer is available.
    #[error(
        "there is no timer here to wait with: await the removal without a deadline, or give the registry a `Timer`"
    )]
    NoTimer,
}

readable_debug! {
    enum DrainError {
        Inside { plugin },
        InsideRun { plugin, flow },
        InsideDrop { plugin },
        StillRunning { plugin, waited, running, runs },
        StillStopping { plugin, waited },
        StopFailed { plugin, failure },
        NoBarrier { plugin },
        NoTimer,
    }
}

/// How the wait for a [`Removal`] ended.
///
/// The handlers are removed in any case, so this may be ignored: a wait that was
/// refused is logged. A caller who wants the error writes
/// `removal.await.into_result()?`.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Copied { file: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<Copied>().plugin("backup").handler(|_: &CopiedPayload| ()))?;
/// let outcome = hooks.unregister_plugin("backup").await;
/// assert_eq!((outcome.removed(), outcome.is_drained()), (1, true));
/// outcome.into_result()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainOutcome {
    removed: usize,
    waited: Waited,
}

/// A type of its own: to a caller who matches the outcome with `Ok` and `Err`, the
/// compiler offers a field that is a `Result`, though it is private.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Waited(Result<(), DrainError>);

impl DrainOutcome {
    fn after(removed: usize, wait: Result<(), DrainError>) -> Self {
        // A stop that failed was reported when it did.
        if let Err(error) = &wait
            && !matches!(error, DrainError::StopFailed { .. })
        {
            log::removed_without_wait(error);
        }
        Self { removed, waited: Waited(wait) }
    }

    /// How many handlers the removal removed.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// Whether nothing of what was removed is left. A stop that failed has ended.
    pub fn is_drained(&self) -> bool {
        matches!(self.waited.0, Ok(()) | Err(DrainError::StopFailed { .. }))
    }

    /// The outcome for `?`: an error where it could not be waited for, or where a
    /// `#[stop]` failed.
    pub fn into_result(self) -> Result<(), DrainError> {
        self.waited.0
    }
}

/// The wait for a [`Removal`], as a future.
///
/// ```
/// # use std::future::IntoFuture;
/// # use hooks_runtime::HookRegistry;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let removal = hooks.unregister_plugin("backup");
/// let waiting = tokio::spawn(removal.into_future()); // a `Draining<'static>`
/// assert_eq!(waiting.await?.removed(), 0);
/// # Ok(()) }
/// ```
pub type Draining<'r> = Pin<Box<dyn Future<Output = DrainOutcome> + Send + 'r>>;

impl Removal {
    pub(crate) fn nothing() -> Self {
        Self { removed: 0, leaving: Vec::new(), stops: Vec::new(), timer: None }
    }

    /// What is left of handlers whose registry is gone.
    pub(crate) fn without_registry(leaving: Vec<Leaving>) -> Self {
        Self { leaving, ..Self::nothing() }
    }

    /// `removed` handlers were removed by this call; those that were removed before
    /// are waited for too.
    pub(crate) fn new(removed: usize, leaving: Vec<Leaving>, timer: &Arc<dyn Timer>) -> Self {
        Self { removed, leaving, stops: Vec::new(), timer: Some(Arc::clone(timer)) }
    }

    /// The same removal, which waits for these as well.
    pub(crate) fn and(mut self, whole: Vec<Leaving>) -> Self {
        self.leaving.extend(whole);
        self
    }

    /// The same removal, of plugins with these stops.
    pub(crate) fn then_stopping(self, stops: Vec<Arc<Stop>>) -> Self {
        Self { stops, ..self }
    }

    /// How many handlers this removed: those that were removed before do not count.
    pub fn removed(&self) -> usize {
        self.removed
    }

    /// The names of the removed handlers that still run, in order of registration.
    pub fn running(&self) -> Vec<String> {
        self.leaving.iter().flat_map(Leaving::running).collect()
    }

    /// Waits until nothing of it is left, but gives up after `limit` and says what
    /// is. It can be waited for again afterwards.
    pub async fn within(&self, limit: Duration) -> Result<(), DrainError> {
        if self.is_idle() {
            return self.stops.iter().try_for_each(|stop| stop.ended());
        }
        self.leaving.iter().try_for_each(Leaving::check_outside)?;
        let timer = self.timer.clone().unwrap_or_else(default_timer);
        let mut deadline = Deadline::after(limit, &*timer).ok_or(DrainError::NoTimer)?;
        let mut drained = pin!(self.drained());
        poll_fn(|task| {
            if let Poll::Ready(done) = drained.as_mut().poll(task) {
                return Poll::Ready(done);
            }
            match deadline.poll(task) {
                Some(Poll::Pending) => Poll::Pending,
                Some(Poll::Ready(())) => Poll::Ready(self.given_up(limit)),
                None => Poll::Ready(Err(DrainError::NoTimer)),
            }
        })
        .await
    }

    fn is_idle(&self) -> bool {
        let is_idle = |leaving: &Leaving| leaving.is_gone() && !leaving.has_stops();
        self.leaving.iter().all(is_idle) && self.stops.iter().all(|stop| stop.has_ended())
    }

    async fn drained(&self) -> Result<(), DrainError> {
        for leaving in &self.leaving {
            leaving.gone().await?;
        }
        let mut stopped = Ok(());
        for stop in &self.stops {
            match stop.run().await {
                // What failed has ended, and the others are run all the same.
                Err(failed @ DrainError::StopFailed { .. }) => stopped = stopped.and(Err(failed)),
                ended => ended?,
            }
        }
        // Those that another removal let go of.
        for leaving in &self.leaving {
            leaving.stopped().await?;
        }
        stopped
    }

    /// What a wait says whose deadline has passed. What ended in the meantime is no
    /// error.
    fn given_up(&self, waited: Duration) -> Result<(), DrainError> {
        if let Some(busy) = self.leaving.iter().find(|leaving| !leaving.is_gone()) {
            let (plugin, mut running) = (busy.who().clone(), self.running());
            let handlers = running.len();
            running.extend(self.leaving.iter().flat_map(Leaving::runs));
            let runs = running.len() - handlers;
            return Err(DrainError::StillRunning { plugin, waited, running, runs });
        }
        if let Some(stop) = self.stops.iter().find(|stop| !stop.has_ended()) {
            return Err(DrainError::StillStopping { plugin: stop.owner(), waited });
        }
        match self.leaving.iter().find(|leaving| leaving.has_stops()) {
            Some(busy) => Err(DrainError::StillStopping { plugin: busy.who().clone(), waited }),
            None => self.stops.iter().try_for_each(|stop| stop.ended()),
        }
    }
}

/// Waits until nothing of it is left.
impl IntoFuture for Removal {
    type Output = DrainOutcome;
    type IntoFuture = Draining<'static>;

    fn into_future(self) -> Draining<'static> {
        Box::pin(async move { (&self).await })
    }
}

/// Waits until nothing of it is left.
impl<'r> IntoFuture for &'r Removal {
    type Output = DrainOutcome;
    type IntoFuture = Draining<'r>;

    fn into_future(self) -> Draining<'r> {
        Box::pin(async move { DrainOutcome::after(self.removed, self.drained().await) })
    }
}
