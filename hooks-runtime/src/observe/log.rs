//! The log: every `tracing` event of the registry is emitted here.
//!
//! A subscriber is the program's own code and may panic, for example because one
//! of its locks is poisoned. Events are emitted while the ownership of futures,
//! errors and values changes, so a panic must not unwind from there: [`emit`]
//! contains it, and no other file of the runtime emits an event.

use std::time::Duration;

use crate::engine::containment::{catch, discard};
use crate::error::FailureKind;
#[cfg(feature = "tokio")]
use crate::error::FireError;
use crate::escape::escaped;
#[cfg(feature = "config")]
use crate::operator::FileError;
use crate::operator::{Setting, TraceEnd, TraceId, TraceLimit, Transition};
use crate::plugin::id::PluginId;
use crate::plugin::lifecycle::StopFailure;
use crate::plugin::removal::DrainError;
use crate::point::{FailurePolicy, PointDescriptor};
use crate::registry::entry::{Entry, Owner};

/// Emits an event. A panic of the subscriber ends here: there is nothing left
/// to report it to.
fn emit(event: impl FnOnce()) {
    discard(catch(event).err());
}

/// A handler failed.
pub(crate) fn failure(
    point: &PointDescriptor,
    entry: &Entry,
    kind: &FailureKind,
    message: &str,
    (policy, elapsed): (Option<FailurePolicy>, Option<Duration>),
) {
    // In shadow there is none.
    let policy = policy.map_or_else(|| "in shadow".to_owned(), |policy| policy.to_string());
    emit(|| {
        tracing::warn!(
            point = point.name(),
            handler = &*entry.name,
            owner = %entry.owner(),
            kind = kind.as_str(),
            policy = %policy,
            elapsed = elapsed.map(tracing::field::debug),
            "a hook handler failed: {}",
            escaped(message),
        );
    });
}

/// The operation of a flow failed, and a handler recovered: the host gets no error.
pub(crate) fn recovered(flow: &str, handler: &str, owner: &Owner, error: &str) {
    emit(|| {
        tracing::warn!(
            point = flow,
            handler,
            owner = %owner,
            kind = "recovered",
            "the operation of a flow failed, and a handler recovered: {}",
            escaped(error),
        );
    });
}

/// A handler ended by itself after its time limit. Its answer counts.
pub(crate) fn overrun(point: &PointDescriptor, entry: &Entry, limit: Duration, elapsed: Duration) {
    emit(|| {
        tracing::warn!(
            point = point.name(),
            handler = &*entry.name,
            owner = %entry.owner(),
            limit = ?limit,
            elapsed = ?elapsed,
            "a hook handler ended after its time limit: {elapsed:.1?} instead of {limit:?}",
        );
    });
}

/// An observer panicked.
pub(crate) fn observer_panicked(message: &str) {
    emit(|| tracing::error!(panic = %escaped(message), "an observer panicked"));
}

/// A waker panicked: while it was cloned, dropped or woken.
pub(crate) fn waker_panicked(message: &str) {
    emit(|| tracing::error!(panic = %escaped(message), "a waker panicked"));
}

/// A value of the program panicked while the registry dropped it.
pub(crate) fn drop_panicked(what: &str, message: &str) {
    emit(|| tracing::error!(panic = %escaped(message), "dropping {what} panicked"));
}

/// A handler's future panicked while it was dropped, which is not the
/// handler's outcome: it has failed otherwise already, its answer stands, or
/// its fire was dropped.
pub(crate) fn future_panicked_in_drop(message: &str) {
    emit(
        || tracing::error!(panic = %escaped(message), "a handler's future panicked while it was dropped"),
    );
}

/// The `#[stop]` of a plugin did not run to a good end.
pub(crate) fn stop_failed(plugin: &PluginId, failure: &StopFailure) {
    emit(|| {
        tracing::warn!(
            plugin = plugin.as_str(),
            kind = failure.as_str(),
            "the `#[stop]` of a plugin failed: {failure}",
        );
    });
}

/// A fire in the background failed, and not by a handler.
#[cfg(feature = "tokio")]
pub(crate) fn background_failed(point: &PointDescriptor, error: &FireError) {
    emit(|| {
        tracing::warn!(
            point = point.name(),
            "a fire in the background failed: {}",
            escaped(&error.to_string()),
        );
    });
}

/// Annotated handlers were to be collected, and there are none.
#[cfg(feature = "collect")]
pub(crate) fn nothing_collected() {
    emit(|| {
        tracing::warn!(
            "no annotated handlers were collected: a crate that no code names is not linked; name \
             it with `use plugin_crate as _;`",
        );
    });
}

/// Handlers were removed without waiting for their calls.
pub(crate) fn removed_without_wait(error: &DrainError) {
    emit(|| tracing::warn!(%error, "removed without a wait"));
}

/// A setting of an operator begins, or has ended.
pub(crate) fn setting(setting: &Setting, event: &str) {
    let (id, layer) = (setting.id().number(), setting.layer().as_str());
    let text = format!("an operator's setting {event}: {setting}");
    if setting.is_break_glass() {
        emit(|| tracing::warn!(id, layer, break_glass = true, "{text}"));
    } else {
        emit(|| tracing::info!(id, layer, break_glass = false, "{text}"));
    }
}

/// A setting does not apply to a handler that came later.
pub(crate) fn setting_withheld(setting: &Setting, handler: &str) {
    let id = setting.id().number();
    emit(|| {
        tracing::warn!(
            id,
            handler,
            "an operator's setting does not apply to `{}`, which came later: {setting}",
            escaped(handler),
        );
    });
}

/// A trace of an operator begins.
pub(crate) fn trace_began(id: TraceId, filter: &str, limit: TraceLimit) {
    let id = id.number();
    emit(|| tracing::info!(id, "an operator's trace begins: {filter}, {limit}"));
}

/// A trace of an operator has ended.
pub(crate) fn trace_ended(id: TraceId, end: &TraceEnd) {
    let id = id.number();
    emit(|| tracing::info!(id, "an operator's trace has ended: {end}"));
}

/// A recording could not be written.
#[cfg(feature = "record")]
pub(crate) fn recording_failed(run: &str, problem: &str) {
    emit(|| {
        tracing::error!(
            run, problem = %escaped(problem),
            "a recording cannot be written: {}",
            escaped(problem),
        );
    });
}

/// An operator's file was refused.
#[cfg(feature = "config")]
pub(crate) fn file_refused(error: &FileError) {
    emit(|| tracing::warn!("an operator's file was refused: {}", error.in_one_line()));
}

/// What is called with each load of an operator's file panicked.
#[cfg(feature = "config")]
pub(crate) fn follower_panicked(message: &str) {
    emit(|| {
        tracing::error!(
            panic = %escaped(message),
            "what follows an operator's file panicked",
        );
    });
}

/// The circuit breaker of a handler has changed.
pub(crate) fn breaker(entry: &Entry, transition: Transition, is_shadow: bool) {
    let (point, handler, owner) = (entry.point.name(), &*entry.name, entry.owner());
    let (from, to) = (transition.from.as_str(), transition.to.as_str());
    if is_shadow {
        emit(|| {
            tracing::info!(
                point, handler, owner = %owner, from, to,
                "a circuit breaker that only counts changed: {transition}",
            );
        });
    } else {
        emit(|| {
            tracing::warn!(
                point, handler, owner = %owner, from, to,
                "the circuit breaker of a hook handler changed: {transition}",
            );
        });
    }
}

/// No handler of a point that has a breaker is called any more.
pub(crate) fn all_breakers_open(point: &PointDescriptor) {
    emit(|| {
        tracing::error!(
            point = point.name(),
            "every circuit breaker of the hook point `{}` is open",
            point.name(),
        );
    });
}
