//! Fires and calls as `tracing` spans.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use tracing::span::Id;
use tracing::{Level, Span, field};

use crate::engine::containment::drop_contained;
use crate::flow::StepStatus;
use crate::observe::{FireEnd, ObservedCall, ObservedFire, ObservedStep, Observer};
use crate::report::HandlerStatus;
use crate::sync::{Mutex, MutexGuard};

/// Opens a span for each fire (`hook_fire`, with `point`, `model` and, at its
/// end, `outcome`) and in it one for each call of a handler (`hook_handler`,
/// with `point`, `handler`, `owner` and, at its end, `outcome`), at the level
/// `INFO`. A handler's own events are in its span, also across its awaits.
///
/// The stages of a flow are inside the span of its run, and so are its
/// validation and its operation, each in a span of its own (`hook_flow_step`,
/// with `point`, `step` and, at its end, `outcome`).
///
/// Behind the feature `tracing`.
///
/// ```
/// use hooks_runtime::HookRegistry;
/// use hooks_runtime::observe::Spans;
///
/// let hooks = HookRegistry::builder().observer(Spans::default()).build();
/// assert!(hooks.handlers().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Spans {
    /// Of the fires and calls under way, by their numbers.
    open: Mutex<HashMap<u64, OpenSpan>>,
}

/// A span whose end cannot unwind: the subscriber may panic in it, even while
/// another of its panics unwinds already.
#[derive(Debug)]
struct OpenSpan(Span);

impl Drop for OpenSpan {
    fn drop(&mut self) {
        drop_contained("a span", std::mem::replace(&mut self.0, Span::none()));
    }
}

impl Spans {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, OpenSpan>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, id: u64, span: Span) {
        self.open().insert(id, OpenSpan(span));
    }

    fn of(&self, id: u64) -> Option<OpenSpan> {
        self.open().get(&id).map(|OpenSpan(span)| OpenSpan(span.clone()))
    }

    /// The id of the span of that number, to be the parent of another.
    fn id_of(&self, id: u64) -> Option<Id> {
        self.of(id)?.0.id()
    }

    fn enter(&self, id: u64) {
        if let Some(OpenSpan(span)) = &self.of(id) {
            span.with_subscriber(|(id, subscriber)| subscriber.enter(id));
        }
    }

    fn exit(&self, id: u64) {
        if let Some(OpenSpan(span)) = &self.of(id) {
            span.with_subscriber(|(id, subscriber)| subscriber.exit(id));
        }
    }

    fn end(&self, id: u64, outcome: &str) {
        // The lock is released before the span ends, which runs the subscriber's
        // code.
        let span = self.open().remove(&id);
        if let Some(OpenSpan(span)) = &span {
            span.record("outcome", outcome);
        }
    }
}

impl Observer for Spans {
    fn fire_started(&self, fire: &ObservedFire) {
        macro_rules! span {
            ($($parent:tt)*) => {
                tracing::span!(
                    $($parent)*
                    Level::INFO,
                    "hook_fire",
                    point = fire.point(),
                    model = %fire.model(),
                    outcome = field::Empty,
                )
            };
        }
        // A run has no poll of its own in which its span could be entered.
        let span =
            if let Some(run) = fire.run() { span!(parent: self.id_of(run),) } else { span!() };
        self.insert(fire.id(), span);
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.end(fire.id(), end.as_str());
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        let span = tracing::span!(
            parent: self.id_of(call.fire().id()),
            Level::INFO,
            "hook_handler",
            point = call.fire().point(),
            handler = call.handler(),
            owner = %call.owner(),
            outcome = field::Empty,
        );
        self.insert(call.id(), span);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.end(call.id(), status.as_str());
    }

    fn poll_started(&self, call: &ObservedCall<'_>) {
        self.enter(call.id());
    }

    fn poll_ended(&self, call: &ObservedCall<'_>) {
        self.exit(call.id());
    }

    fn step_started(&self, step: &ObservedStep<'_>) {
        let span = tracing::span!(
            parent: self.id_of(step.run().id()),
            Level::INFO,
            "hook_flow_step",
            point = step.run().point(),
            step = step.step().name(),
            outcome = field::Empty,
        );
        self.insert(step.id(), span);
    }

    fn step_ended(&self, step: &ObservedStep<'_>, status: &StepStatus, _: Duration) {
        self.end(step.id(), status.as_str());
    }

    fn step_poll_started(&self, step: &ObservedStep<'_>) {
        self.enter(step.id());
    }

    fn step_poll_ended(&self, step: &ObservedStep<'_>) {
        self.exit(step.id());
    }
}
