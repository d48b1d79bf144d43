//! Void fires that are handed over to run in the background.
//!
//! A fire is handed over with its payload to the tokio runtime of the caller. It is
//! an ordinary fire, which inherits what a nested fire would: the scope with its
//! values, and the chain of fires that it was made in (`task.rs`). Those under way are
//! known to the registry (`tasks.rs`), so that a host can wait for them when it shuts
//! down (`settled.rs`).

mod settled;
mod task;
mod tasks;

use std::any::TypeId;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub use settled::{SettleError, Settled};
pub(crate) use tasks::BackgroundTasks;

use self::task::Task;
use crate::engine::containment::drop_contained;
use crate::engine::fire::FireInfo;
use crate::error::FireError;
use crate::model::{FiresAs, ToFire, Void};
use crate::observe::recorder::Recorder;
use crate::observe::{FireEnd, log, logs_failures};
use crate::operator::trace::Payload;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::point::interest::Interest;
use crate::readable;

impl ScopedHooks {
    /// Hands a void fire over to run in the background, on the tokio runtime of the
    /// caller.
    ///
    /// The fire is like one that is awaited, and inherits the scope with its values and,
    /// from inside a handler, the depth. The handle may be dropped: the failures of
    /// handlers are reported as always, and an error that is no handler's goes to the
    /// log. Without a runtime nothing is called, and observers and the log get that
    /// error. Any number can be under way; [`try_spawn_void`](Self::try_spawn_void) has a
    /// bound, and [`settled`](Self::settled) waits for all.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void SessionStart { session_id: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::new();
    /// hooks.register_void::<SessionStart>(async |start: &SessionStartPayload| {
    ///     println!("session {}", start.session_id);
    /// })?;
    /// hooks.spawn_void::<SessionStart>(SessionStartPayload { session_id: "s-1".into() });
    /// hooks.settled().await?; // before the program ends
    /// # Ok(()) }
    /// ```
    pub fn spawn_void<P>(&self, payload: ToFire<P, Void, P::Payload>) -> BackgroundFire
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        let payload = <P::Model as FiresAs<Void, P>>::taken(payload);
        if let Some(ended) = self.ended_at_once::<P>(&payload) {
            drop_contained("a payload", payload);
            return ended;
        }
        let Ok(runtime) = Handle::try_current() else {
            drop_contained("a payload", payload);
            return self.not_begun(FireInfo::of::<P>(self), FireError::NoRuntime);
        };
        let task = Task::begin(self, P::descriptor());
        self.begin::<P>(&runtime, task, payload)
    }

    /// As [`spawn_void`](Self::spawn_void), unless as many fires are under way in the
    /// background as the registry allows
    /// ([`max_background`](crate::HookRegistryBuilder::max_background)), or there is no
    /// runtime: then the payload comes back.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Visited { page: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let hooks = HookRegistry::builder().max_background(1).build();
    /// hooks.register_void::<Visited>(async |_: &VisitedPayload| ())?;
    /// let visit = |page: &str| VisitedPayload { page: page.to_owned() };
    /// let first = hooks.try_spawn_void::<Visited>(visit("/"))?;
    /// let full = hooks.try_spawn_void::<Visited>(visit("/about")).unwrap_err();
    /// first.await?;
    /// // There is room again.
    /// hooks.try_spawn_void::<Visited>(full.into_payload())?.await?;
    /// # Ok(()) }
    /// ```
    pub fn try_spawn_void<P>(
        &self,
        payload: ToFire<P, Void, P::Payload>,
    ) -> Result<BackgroundFire, TrySpawnError<P::Payload>>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        let payload = <P::Model as FiresAs<Void, P>>::taken(payload);
        if let Some(ended) = self.ended_at_once::<P>(&payload) {
            drop_contained("a payload", payload);
            return Ok(ended);
        }
        let Ok(runtime) = Handle::try_current() else {
            return Err(TrySpawnError::NoRuntime { payload });
        };
        let limit = self.inner.config.max_background;
        match Task::begin_within(self, P::descriptor(), limit) {
            Some(task) => Ok(self.begin::<P>(&runtime, task, payload)),
            None => Err(TrySpawnError::Full { payload, limit }),
        }
    }

    /// A fire that calls no handler: there are none, or it cannot begin.
    fn ended_at_once<P>(&self, payload: &P::Payload) -> Option<BackgroundFire>
    where
        P: HookPoint,
    {
        if self.is_quiet::<P>() {
            return Some(BackgroundFire::ended(Ok(())));
        }
        match self.interest(P::descriptor()) {
            Ok(Interest::Quiet) => Some(BackgroundFire::ended(Ok(()))),
            Ok(Interest::Observed) if self.is_only_traced::<P>() => {
                // A trace asks for no runtime and no room, where the fire would not.
                let recorder = Recorder::observing(FireInfo::of::<P>(self));
                recorder.begin(&mut Payload::Given(payload, TypeId::of::<P>()));
                recorder.fire_ended(&FireEnd::Completed("notified"));
                Some(BackgroundFire::ended(Ok(())))
            }
            Ok(_) => None,
            Err(error) => Some(self.not_begun(FireInfo::of::<P>(self), error)),
        }
    }

    /// Whether a fire of `P` has nothing to do but to be part of traces.
    fn is_only_traced<P: HookPoint>(&self) -> bool {
        self.inner.config.observers.is_empty() && !self.has_handlers::<P>()
    }

    /// What is generic about it: the fire, boxed.
    fn begin<P>(&self, runtime: &Handle, task: Task, payload: P::Payload) -> BackgroundFire
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        let hooks = self.clone();
        let fire = Box::pin(async move { hooks.fire_made::<Void, P>(payload).await });
        BackgroundFire(State::Task(runtime.spawn(task.firing(fire))))
    }

    /// A fire that cannot begin: observers are notified of it, as of one that began.
    #[cold]
    fn not_begun(&self, info: FireInfo<'_>, error: FireError) -> BackgroundFire {
        let observers = &self.inner.config.observers;
        if !observers.is_empty() {
            Recorder::observing(info).fire_ended(&FireEnd::Failed(&error));
        }
        if logs_failures(observers) {
            log::background_failed(info.point, &error);
        }
        BackgroundFire::ended(Err(error))
    }
}

/// A void fire in the background. Dropping this leaves it running; awaited, it says
/// what the fire came to.
///
/// ```
/// # use hooks_runtime::{FireError, HookRegistry, hook_points};
/// # hook_points! { pub void Indexing { folder: String } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register_void::<Indexing>(async |_: &IndexingPayload| std::future::pending::<()>().await)?;
/// let fire = hooks.spawn_void::<Indexing>(IndexingPayload { folder: "src".into() });
/// tokio::task::yield_now().await;
/// assert!(!fire.is_finished());
/// fire.abort();
/// assert!(matches!(fire.await, Err(FireError::Cancelled)));
/// # Ok(()) }
/// ```
pub struct BackgroundFire(State);

enum State {
    /// `None` once that was said.
    Ended(Option<Result<(), FireError>>),
    Task(JoinHandle<Result<(), FireError>>),
}

impl BackgroundFire {
    fn ended(result: Result<(), FireError>) -> Self {
        Self(State::Ended(Some(result)))
    }

    /// Whether the fire has ended.
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            State::Ended(_) => true,
            State::Task(task) => task.is_finished(),
        }
    }

    /// Drops the fire and the calls of handlers that are under way in it.
    pub fn abort(&self) {
        if let State::Task(task) = &self.0 {
            task.abort();
        }
    }
}

impl Future for BackgroundFire {
    type Output = Result<(), FireError>;

    /// # Panics
    /// Where it is polled after it was ready.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Ended(result) => Poll::Ready(result.take().expect("polled after it was ready")),
            State::Task(task) => {
                Pin::new(task).poll(cx).map(|ended| ended.unwrap_or(Err(FireError::Cancelled)))
            }
        }
    }
}

impl fmt::Debug for BackgroundFire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BackgroundFire")
            .field("is_finished", &self.is_finished())
            .finish_non_exhaustive()
    }
}

/// A void fire was not handed over to the background; gives the payload back.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Metered { units: u32 } }
/// // No tokio runtime is running here.
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register_void::<Metered>(async |_: &MeteredPayload| ())?;
/// let error = hooks.try_spawn_void::<Metered>(MeteredPayload { units: 3 }).unwrap_err();
/// assert!(!error.is_full()); // another try will not help
/// assert_eq!(error.into_payload().units, 3);
/// # Ok(()) }
/// ```
#[non_exhaustive]
pub enum TrySpawnError<T> {
    /// As many fires are under way as the registry allows.
    Full {
        /// The payload.
        payload: T,
        /// How many are allowed.
        limit: usize,
    },
    /// There is no tokio runtime where it was asked for.
    NoRuntime {
        /// The payload.
        payload: T,
    },
}

impl<T> TrySpawnError<T> {
    /// The payload, for another try or an awaited fire.
    pub fn into_payload(self) -> T {
        match self {
            Self::Full { payload, .. } | Self::NoRuntime { payload } => payload,
        }
    }

    /// Whether it was refused for the number of fires under way: once some have ended,
    /// another try can succeed.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }
}

impl<T> fmt::Debug for TrySpawnError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return readable::write(f, self, None);
        }
        match self {
            Self::Full { limit, .. } => {
                f.debug_struct("Full").field("limit", limit).finish_non_exhaustive()
            }
            Self::NoRuntime { .. } => f.debug_struct("NoRuntime").finish_non_exhaustive(),
        }
    }
}

impl<T> fmt::Display for TrySpawnError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit, .. } => write!(
                f,
                "{limit} fires are under way in the background, as many as the registry allows: \
                 try again later, await `fire_void`, or raise `max_background` of the builder"
            ),
            Self::NoRuntime { .. } => write!(f, "{}", FireError::NoRuntime),
        }
    }
}

impl<T> std::error::Error for TrySpawnError<T> {}
