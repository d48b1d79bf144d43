//! The observer of the copies.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::points::Points;
use super::script::Script;
use super::timeline::{TimelineRow, full_name};
use crate::json::JsonPoint;
use crate::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use crate::plugin::PluginId;
use crate::point::PointDescriptor;
use crate::record::RawAnswer;
use crate::registry::copy::ForReplay;
use crate::registry::entry::Entry;
use crate::report::{HandlerStatus, SkipReason};

/// Hands on to the script what happens in a copy.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) script: Arc<Script>,
    pub(super) points: Points,
}

impl Observer for Collector {
    fn fire_started(&self, fire: &ObservedFire) {
        self.script.fire_started(fire.id(), (fire.parent(), fire.run()), fire.point());
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.script.fire_ended(fire.id(), end);
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        let row = TimelineRow::observed(call, &HandlerStatus::Cancelled);
        self.script.call_started(call.fire().id(), call.id(), row);
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.script.call_ended(call.fire().id(), call.id(), TimelineRow::observed(call, status));
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, reason: SkipReason) {
        let row = TimelineRow::observed(call, &HandlerStatus::Filtered(reason));
        self.script.call_ended(call.fire().id(), call.id(), row);
    }

    fn poll_started(&self, call: &ObservedCall<'_>) {
        let owner = call.owner();
        let handler = full_name(owner.plugin().map(PluginId::as_str), call.handler());
        self.script.polling(call.fire().id(), handler);
    }

    /// What fails in a replay has not failed.
    fn logs_failures(&self) -> bool {
        false
    }
}

impl ForReplay for Collector {
    fn number(&self, fire: u64) -> u64 {
        self.script.number(fire)
    }

    fn json(&self, point: &PointDescriptor) -> Option<JsonPoint> {
        self.points.info(point)?.json
    }

    fn begun(&self, fire: u64, payload: Value) {
        self.script.begun(fire, payload);
    }

    fn answered(&self, fire: u64, entry: &Entry, answer: RawAnswer) {
        if let Ok(answer) = answer {
            let plugin = entry.plugin.as_ref().map(|plugin| plugin.id().as_str());
            self.script.answered(fire, full_name(plugin, &entry.name), answer);
        }
    }
}
