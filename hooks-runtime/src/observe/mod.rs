//! Observing everything that happens in a registry.
//!
//! An [`Observer`] is set when the registry is built. It is notified of every
//! registration and removal, of the start and the end of every fire, of every
//! call of a handler, and of a flow's validation and operation. Each start has
//! exactly one end, also when the fire is dropped.
//!
//! ```
//! use std::time::Duration;
//! use hooks_runtime::HookRegistry;
//! use hooks_runtime::observe::{ObservedCall, Observer};
//! use hooks_runtime::report::HandlerStatus;
//!
//! #[derive(Debug)]
//! struct Slow;
//!
//! impl Observer for Slow {
//!     fn handler_ended(&self, call: &ObservedCall<'_>, _: &HandlerStatus, took: Duration) {
//!         if took > Duration::from_secs(1) {
//!             println!("{} took {took:?} at {}", call.handler(), call.fire().point());
//!         }
//!     }
//! }
//!
//! let hooks = HookRegistry::builder().observer(Slow).build();
//! # let _ = hooks;
//! ```
//!
//! Ready-made: [`Statistics`] counts and times each handler, and gives the numbers as
//! data; `Metrics` (feature `metrics`) hands them to the program's own recorder; `Spans`
//! (feature `tracing`) opens `tracing` spans.
//!
//! A registry without an observer pays nothing for this, and reports the
//! failures of handlers as `tracing` events. With an observer, fires of points
//! without handlers are reported to it too (except for the lazy forms, which then
//! do not start), every call is timed, and failures still go to the log unless the
//! observer [handles them](Observer::logs_failures).

mod event;
pub(crate) mod log;
#[cfg(feature = "metrics")]
mod metrics;
pub(crate) mod notes;
pub(crate) mod recorder;
#[cfg(feature = "tracing")]
mod spans;
mod statistics;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::containment::contained;
use crate::flow::{NotRun, StepStatus};
use crate::operator::{Setting, SettingEnd, Transition};
use crate::plugin::id::PluginId;
use crate::plugin::lifecycle::StopFailure;
use crate::report::{HandlerStatus, SkipReason};

pub use event::{FireEnd, ObservedCall, ObservedFire, ObservedHandler, ObservedStep};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
#[cfg(feature = "tracing")]
pub use spans::Spans;
pub use statistics::{HandlerStatistics, Histogram, HistogramBucket, Statistics};

/// Observes everything that happens in a registry.
///
/// The default methods do nothing. Methods are called on the thread that fires or
/// registers, so they should be quick; they are called outside all locks, and a
/// panic in one is contained and logged.
///
/// The example of [`ObservedCall`] is notified of calls, that of [`ObservedFire`] of fires.
pub trait Observer: Debug + Send + Sync + 'static {
    /// A handler was registered: fires that start from now on see it.
    fn registered(&self, handler: &ObservedHandler<'_>) {
        let _ = handler;
    }

    /// A handler was removed or replaced.
    fn removed(&self, handler: &ObservedHandler<'_>) {
        let _ = handler;
    }

    /// A setting of an operator begins to hold.
    fn setting_began(&self, setting: &Setting) {
        let _ = setting;
    }

    /// A setting of an operator has ended. One that ends by itself is noticed by the next
    /// fire that it would have applied to, or the next call of an operator.
    fn setting_ended(&self, setting: &Setting, end: SettingEnd) {
        let _ = (setting, end);
    }

    /// A setting of an operator does not apply to a handler that came later, because it
    /// would need the break-glass form there, or cannot be.
    fn setting_withheld(&self, setting: &Setting, handler: &ObservedHandler<'_>) {
        let _ = (setting, handler);
    }

    /// The circuit breaker of a handler has changed, by its calls or by a reset.
    ///
    /// A breaker comes and goes with its setting, without a transition: what is open then
    /// ends with [`setting_ended`](Self::setting_ended), and another setting begins with one
    /// that is closed. A forced state is a setting too.
    fn breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        let _ = (handler, transition);
    }

    /// The circuit breaker of a handler that only counts has changed: calls go on.
    fn shadow_breaker_changed(&self, handler: &ObservedHandler<'_>, transition: Transition) {
        let _ = (handler, transition);
    }

    /// The last circuit breaker of a point that was closed has opened: of its handlers, all
    /// that have one, and that is more than one or all there are, are not called any more.
    /// Called right after [`breaker_changed`](Self::breaker_changed).
    fn all_breakers_open(&self, point: &'static str) {
        let _ = point;
    }

    /// A plugin was removed, and its `#[stop]` did not run to a good end.
    fn stop_failed(&self, plugin: &PluginId, failure: &StopFailure) {
        let _ = (plugin, failure);
    }

    /// A fire begins. Of a flow, this is the whole run; its stages are fires
    /// of their own.
    fn fire_started(&self, fire: &ObservedFire) {
        let _ = fire;
    }

    /// A fire has ended.
    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, took: Duration) {
        let _ = (fire, end, took);
    }

    /// A handler is about to be called.
    fn handler_started(&self, call: &ObservedCall<'_>) {
        let _ = call;
    }

    /// A call of a handler has ended: it ran, failed, or was cancelled.
    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, took: Duration) {
        let _ = (call, status, took);
    }

    /// A handler ended by itself after its time limit: what it answered counts
    /// all the same. Called right before the end of the call.
    fn handler_overran(&self, call: &ObservedCall<'_>, limit: Duration, took: Duration) {
        let _ = (call, limit, took);
    }

    /// A handler was not called. There is no start and no end of it.
    fn handler_filtered(&self, call: &ObservedCall<'_>, reason: SkipReason) {
        let _ = (call, reason);
    }

    /// The code of a handler is about to run on this thread: its call, or a
    /// poll of its future.
    fn poll_started(&self, call: &ObservedCall<'_>) {
        let _ = call;
    }

    /// The code of a handler has returned to the fire.
    fn poll_ended(&self, call: &ObservedCall<'_>) {
        let _ = call;
    }

    /// The validation or the operation of a flow is about to run.
    fn step_started(&self, step: &ObservedStep<'_>) {
        let _ = step;
    }

    /// The validation or the operation of a flow has ended: it ran, failed, or
    /// was cancelled with its run.
    fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, took: Duration) {
        let _ = (step, status, took);
    }

    /// The validation or the operation of a flow is not run. There is no start
    /// and no end of it.
    fn step_not_run(&self, step: &ObservedStep<'_>, reason: NotRun) {
        let _ = (step, reason);
    }

    /// The code of the validation or the operation is about to run on this
    /// thread: its call, or a poll of its future.
    fn step_poll_started(&self, step: &ObservedStep<'_>) {
        let _ = step;
    }

    /// The code of the validation or the operation has returned to the run.
    fn step_poll_ended(&self, step: &ObservedStep<'_>) {
        let _ = step;
    }

    /// Whether failures, and answers after their time limit, go to the log as
    /// `tracing` events too. They do unless an observer returns false.
    fn logs_failures(&self) -> bool {
        true
    }
}

/// Whether failures go to the log as well.
pub(crate) fn logs_failures(observers: &[Arc<dyn Observer>]) -> bool {
    // An observer that panics here has not declared that it handles them.
    let logs = |observer: &Arc<dyn Observer>| contained(|| observer.logs_failures());
    observers.iter().all(|observer| logs(observer).unwrap_or(true))
}

/// Notifies every observer. A panic in one is logged, and the others are notified
/// all the same.
pub(crate) fn notify(observers: &[Arc<dyn Observer>], what: impl Fn(&dyn Observer)) {
    for observer in observers {
        if let Err(message) = contained(|| what(&**observer)) {
            log::observer_panicked(&message);
        }
    }
}
