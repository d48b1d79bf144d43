//! The observer of the copies.

use std::sync::Arc;
use std::time::Duration;

use super::script::Script;
use super::timeline::TimelineRow;
use crate::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use crate::registry::copy::Numbers;
use crate::report::{HandlerStatus, SkipReason};

/// Hands on to the script what happens in a copy.
#[derive(Debug)]
pub(super) struct Collector(pub(super) Arc<Script>);

impl Observer for Collector {
    fn fire_started(&self, fire: &ObservedFire) {
        self.0.fire_started(fire.id(), fire.parent(), fire.point());
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.0.fire_ended(fire.id(), end);
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        let row = TimelineRow::observed(call, &HandlerStatus::Cancelled);
        self.0.call_started(call.fire().id(), call.id(), row);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.0.call_ended(call.fire().id(), call.id(), TimelineRow::observed(call, status));
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, reason: SkipReason) {
        let row = TimelineRow::observed(call, &HandlerStatus::Filtered(reason));
        self.0.call_ended(call.fire().id(), call.id(), row);
    }

    fn poll_started(&self, call: &ObservedCall<'_>) {
        self.0.polling(call.fire().id());
    }

    /// What fails in a replay has not failed.
    fn logs_failures(&self) -> bool {
        false
    }
}

impl Numbers for Collector {
    fn number(&self, fire: u64) -> u64 {
        self.0.number(fire)
    }
}
