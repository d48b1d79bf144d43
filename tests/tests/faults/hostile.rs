//! An observer and a log subscriber that panic at every notification.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, ObservedHandler, Observer};
use hooks_runtime::report::{HandlerStatus, SkipReason};
use tracing::{Dispatch, Event, Metadata, Subscriber, dispatcher, span};

pub const LOG: &str = "the log subscriber panics";
pub const OBSERVER: &str = "the observer panics";

/// Panics in every method.
#[derive(Debug)]
pub struct HostileObserver;

impl Observer for HostileObserver {
    fn registered(&self, _: &ObservedHandler<'_>) {
        panic!("{OBSERVER}");
    }

    fn removed(&self, _: &ObservedHandler<'_>) {
        panic!("{OBSERVER}");
    }

    fn fire_started(&self, _: &ObservedFire) {
        panic!("{OBSERVER}");
    }

    fn fire_ended(&self, _: &ObservedFire, _: &FireEnd<'_>, _: Duration) {
        panic!("{OBSERVER}");
    }

    fn handler_started(&self, _: &ObservedCall<'_>) {
        panic!("{OBSERVER}");
    }

    fn handler_ended(&self, _: &ObservedCall<'_>, _: &HandlerStatus, _: Duration) {
        panic!("{OBSERVER}");
    }

    fn handler_overran(&self, _: &ObservedCall<'_>, _: Duration, _: Duration) {
        panic!("{OBSERVER}");
    }

    fn handler_filtered(&self, _: &ObservedCall<'_>, _: SkipReason) {
        panic!("{OBSERVER}");
    }

    fn poll_started(&self, _: &ObservedCall<'_>) {
        panic!("{OBSERVER}");
    }

    fn poll_ended(&self, _: &ObservedCall<'_>) {
        panic!("{OBSERVER}");
    }

    fn logs_failures(&self) -> bool {
        panic!("{OBSERVER}");
    }
}

/// Panics at every event, and counts them.
struct HostileLog(Arc<AtomicUsize>);

impl Subscriber for HostileLog {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("{LOG}");
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// A log that panics, and how often it was asked.
pub fn log() -> (Dispatch, Arc<AtomicUsize>) {
    let asked = Arc::default();
    (Dispatch::new(HostileLog(Arc::clone(&asked))), asked)
}

/// Polls with that log, on whichever thread.
pub async fn under<T>(log: Dispatch, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|task| dispatcher::with_default(&log, || future.as_mut().poll(task))).await
}
