//! The `#[stop]` of a plugin: owed from its installation on, run once at most.

use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use super::LifecycleStep;
use crate::engine::containment::{drop_contained, shown};
use crate::error::FailureKind;
use crate::escape::escaped;
use crate::observe::{Observer, log, logs_failures, notify};
use crate::plugin::record::PluginName;
use crate::plugin::removal::DrainError;
use crate::plugin::tracker::{CallTracker, next_id};
use crate::readable::readable_debug;
use crate::registry::entry::Owner;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard, thread_local};

thread_local! {
    /// The trackers of the plugins whose stops this thread is polling.
    static STOPPING: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Why the `#[stop]` of a plugin did not run to a good end.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_handlers, hook_points};
/// # use hooks_runtime::plugin::{DrainError, StopFailure};
/// # hook_points! { pub void Saved { page: u32 } }
/// # struct Buffer;
/// #[hook_handlers(plugin = "buffer")]
/// impl Buffer {
/// #     #[hook_handler(Saved)] fn keep(&self, _: &SavedPayload) {}
///     #[stop]
///     fn flush(&self) -> Result<(), &'static str> {
///         Err("the disk is full")
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let removal = hooks.install(Buffer)?.uninstall();
/// let Err(DrainError::StopFailed { failure, .. }) = removal.await.into_result() else { panic!() };
/// assert_eq!(failure, StopFailure::Error("the disk is full".to_owned()));
/// assert_eq!(failure.as_str(), "error");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopFailure {
    /// It was not run: the removal of the plugin was not awaited, the wait was refused
    /// (asked for from inside one of its handlers or of its runs), the registry was
    /// dropped, or the future of a `start` was, after the plugin had started.
    Skipped,
    /// It had begun, and all waits for it were given up before it ended.
    Cancelled,
    /// It returned an error, with this text.
    Error(String),
    /// It panicked.
    Panicked(String),
}

impl StopFailure {
    /// One word for logs and counters.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Error(_) => "error",
            Self::Panicked(_) => "panic",
        }
    }

    fn new(kind: &FailureKind) -> Self {
        match kind {
            FailureKind::Panicked(message) => Self::Panicked(message.clone()),
            error => Self::Error(shown(&error.raw())),
        }
    }
}

/// In one line, escaped.
impl fmt::Display for StopFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped => f.write_str(
                "it was skipped, because only an awaited removal runs it, and none did: await the \
                 `uninstall` of the plugin",
            ),
            Self::Cancelled => {
                f.write_str("it was dropped before its end: await the removal until it is ready")
            }
            Self::Error(message) => write!(f, "{}", escaped(message)),
            Self::Panicked(message) => write!(f, "panicked: {}", escaped(message)),
        }
    }
}

impl Error for StopFailure {}

readable_debug! { enum StopFailure { Skipped, Cancelled, Error(text), Panicked(message) } }

/// The `#[stop]` of one generation of a plugin. The last to let go of it reports
/// that it was skipped.
pub(crate) struct Stop {
    /// As the tracker knows it.
    id: u64,
    plugin: Arc<PluginName>,
    state: Mutex<State>,
    waits: Arc<AllWaits>,
    observers: Vec<Arc<dyn Observer>>,
}

enum State {
    /// Not begun.
    Owed(LifecycleStep),
    /// Begun, and polled by no wait just now.
    Begun(LifecycleStep),
    /// A wait is polling it.
    Polled,
    Ended(Option<StopFailure>),
}

impl Stop {
    pub(crate) fn new(
        plugin: Arc<PluginName>,
        step: LifecycleStep,
        observers: &[Arc<dyn Observer>],
    ) -> Arc<Self> {
        let state = Mutex::new(State::Owed(step));
        let (tracker, woken) = (Arc::clone(plugin.tracker()), AtomicBool::new(false));
        let waits = Arc::new(AllWaits { tracker, woken });
        Arc::new(Self { id: next_id(), plugin, state, waits, observers: observers.to_vec() })
    }

    /// It is the stop of that generation, which is installed.
    pub(crate) fn is_owed_by(&self, generation: u64) {
        self.plugin.tracker().stop_owed(self.id, generation);
    }

    /// Whether it ran to its end.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(*self.state(), State::Ended(_))
    }

    /// Whose it is.
    pub(crate) fn owner(&self) -> Owner {
        Owner::Plugin(self.plugin.id().clone())
    }

    /// Runs it, with all others that wait for it: what one of them began, the others
    /// go on with, and each gets to know how it ended.
    pub(crate) async fn run(&self) -> Result<(), DrainError> {
        let wait = self.plugin.tracker().wait();
        poll_fn(|task| {
            // Registered before the look: what changes in between wakes.
            wait.register(task.waker());
            self.poll()
        })
        .await
    }

    fn poll(&self) -> Poll<Result<(), DrainError>> {
        let mut step = match self.take() {
            State::Owed(step) | State::Begun(step) => step,
            State::Polled if Self::is_polling(self.plugin.tracker()) => {
                return Poll::Ready(Err(DrainError::Inside { plugin: self.owner() }));
            }
            State::Polled => return Poll::Pending,
            State::Ended(failure) => return Poll::Ready(self.outcome(failure)),
        };
        self.waits.woken.store(false, Ordering::Relaxed);
        let waker = Waker::from(Arc::clone(&self.waits));
        let failure = match self.polling(|| step.poll(&mut Context::from_waker(&waker))) {
            Poll::Pending => {
                *self.state() = State::Begun(step);
                // The waits that were woken meanwhile may have found it polled.
                if self.waits.woken.load(Ordering::Acquire) {
                    self.plugin.tracker().wake();
                }
                return Poll::Pending;
            }
            Poll::Ready(ended) => ended.err().map(|kind| {
                let failure = StopFailure::new(&kind);
                // The error is the user's, as is its drop.
                drop_contained("the error of a `#[stop]`", kind);
                failure
            }),
        };
        self.polling(|| drop(step));
        *self.state() = State::Ended(failure.clone());
        self.plugin.tracker().stop_gone(self.id);
        // After that: an observer may wait for the plugin.
        if let Some(failure) = &failure {
            self.report(failure);
        }
        Poll::Ready(self.outcome(failure))
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&self) -> Result<(), DrainError> {
        match &*self.state() {
            State::Ended(failure) => self.outcome(failure.clone()),
            _ => Ok(()),
        }
    }

    /// The state; a step in it is to be polled by the caller.
    fn take(&self) -> State {
        let mut state = self.state();
        let taken = std::mem::replace(&mut *state, State::Polled);
        if let State::Ended(failure) = &taken {
            *state = State::Ended(failure.clone());
        }
        taken
    }

    fn outcome(&self, failure: Option<StopFailure>) -> Result<(), DrainError> {
        let failed = |failure| DrainError::StopFailed { plugin: self.owner(), failure };
        failure.map_or(Ok(()), |failure| Err(failed(failure)))
    }

    /// Polls the step, which must not wait for itself meanwhile.
    fn polling<T>(&self, poll: impl FnOnce() -> T) -> T {
        // What is gone at the end of a thread is not needed there.
        let id = self.plugin.tracker().id();
        let _ = STOPPING.try_with(|stopping| stopping.borrow_mut().push(id));
        let polled = poll();
        let _ = STOPPING.try_with(|stopping| stopping.borrow_mut().pop());
        polled
    }

    /// Whether this thread is polling or dropping a stop of that plugin.
    pub(crate) fn is_polling(plugin: &CallTracker) -> bool {
        let id = plugin.id();
        STOPPING.try_with(|stopping| stopping.borrow().contains(&id)).unwrap_or(false)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self, failure: &StopFailure) {
        if logs_failures(&self.observers) {
            log::stop_failed(self.plugin.id(), failure);
        }
        notify(&self.observers, |observer| observer.stop_failed(self.plugin.id(), failure));
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut *self.state(), State::Ended(None));
        let (step, failure) = match state {
            State::Owed(step) => (step, StopFailure::Skipped),
            State::Begun(step) => (step, StopFailure::Cancelled),
            State::Polled | State::Ended(_) => return,
        };
        // It may have the last reference to the plugin's value.
        let tracker = self.plugin.tracker();
        tracker.while_dropping(None, || self.polling(|| drop(step)));
        tracker.stop_gone(self.id);
        self.report(&failure);
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(self.plugin.id()).finish()
    }
}

/// The waker of a stop: it wakes all waits for the plugin, because the one that
/// polled the stop last may not be polled again.
struct AllWaits {
    tracker: Arc<CallTracker>,
    /// Whether the stop was woken since its last poll began.
    woken: AtomicBool,
}

impl Wake for AllWaits {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.tracker.wake();
    }
}
