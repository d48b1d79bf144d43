//! A recorded fire that has ended, before it is lines: to make those is work of the writer, so
//! that no fire waits for it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::format::{
    CallLine, CallStatus, Captured, Decision, Failure, FireLine, LineKind, StepLine,
};
use super::queue::Pending;
use super::slot::nanoseconds;
use crate::operator::Mode;
use crate::plugin::PluginId;
use crate::point::{FailurePolicy, PointDescriptor};
use crate::report::SkipReason;

/// A recorded fire that has ended.
#[derive(Debug)]
pub(super) struct EndedFire {
    pub(super) generation: u64,
    pub(super) at_ns: u64,
    pub(super) point: &'static PointDescriptor,
    pub(super) line: FireLine,
    /// The handlers' ids in the order of the list.
    pub(super) order: Vec<u64>,
    pub(super) calls: Vec<EndedCall>,
    pub(super) steps: Vec<StepLine>,
}

/// A call of it.
#[derive(Debug)]
pub(super) struct EndedCall {
    /// The id of the handler.
    pub(super) entry: u64,
    pub(super) at_ns: u64,
    pub(super) call: Option<u64>,
    pub(super) handler: Arc<str>,
    pub(super) plugin: Option<PluginId>,
    pub(super) mode: Mode,
    pub(super) policy: FailurePolicy,
    pub(super) limit: Option<Duration>,
    pub(super) settings: Vec<u64>,
    pub(super) status: CallStatus,
    pub(super) decision: Option<Decision>,
    pub(super) failure: Option<Failure>,
    pub(super) skipped: Option<SkipReason>,
    pub(super) answer: Option<Captured>,
    pub(super) took: Option<Duration>,
    pub(super) overrun: Option<Duration>,
}

impl EndedFire {
    /// How many lines it is.
    pub(super) fn len(&self) -> usize {
        1 + self.calls.len() + self.steps.len()
    }

    pub(super) fn into_lines(self) -> Vec<Pending> {
        let count = self.len();
        let Self { generation, at_ns, point, line, order, mut calls, steps } = self;
        in_order(&mut calls, &order);
        let fire = line.fire;
        let pending = |at_ns, kind| Pending { generation, at_ns, kind };
        let starts: Vec<_> = calls.iter().map(|call| call.at_ns).collect();
        let lines = calls.into_iter().zip(0..);
        let mut lines: Vec<_> =
            lines.map(|(call, place)| call.into_line(fire, place, point)).collect();
        note_changes(&line.payload, &mut lines);
        let mut all = Vec::with_capacity(count);
        all.push(pending(at_ns, LineKind::Fire(line)));
        all.extend(starts.into_iter().zip(lines).map(|(at, it)| pending(at, LineKind::Call(it))));
        let steps = steps.into_iter().map(|step| LineKind::Step(StepLine { fire, ..step }));
        all.extend(steps.map(|step| pending(at_ns, step)));
        all
    }
}

impl EndedCall {
    fn into_line(self, fire: u64, place: u32, point: &PointDescriptor) -> CallLine {
        let effect = self.decision.clone().filter(|_| self.status != CallStatus::Shadowed);
        CallLine {
            fire,
            call: self.call,
            place,
            point: point.name().to_owned(),
            model: point.model().to_string(),
            handler: self.handler.to_string(),
            plugin: self.plugin.as_ref().map(ToString::to_string),
            mode: self.mode,
            policy: self.policy,
            time_limit_ns: self.limit.map(nanoseconds),
            settings: self.settings,
            status: self.status,
            decision: self.decision,
            effect,
            failure: self.failure,
            skipped: self.skipped,
            changed: None,
            answer: self.answer,
            took_ns: self.took.map(nanoseconds),
            overrun_ns: self
                .took
                .zip(self.overrun)
                .map(|(took, limit)| nanoseconds(took.saturating_sub(limit))),
        }
    }
}

/// Puts calls, which end in any order, into that of the list.
fn in_order(calls: &mut [EndedCall], order: &[u64]) {
    if calls.iter().map(|call| &call.entry).eq(order) {
        return;
    }
    let places: HashMap<_, _> = order.iter().zip(0..).collect();
    calls.sort_by_key(|call| places.get(&call.entry).copied().unwrap_or(usize::MAX));
}

/// Says of each call which fields it set or changed, as far as that is recorded.
fn note_changes(payload: &Captured, calls: &mut [CallLine]) {
    let mut before = payload.value();
    let changed = calls.iter().map(|line| match &line.decision {
        Some(Decision::Fields { fields }) => Some(fields.clone()),
        Some(Decision::Replaced) => {
            let answer = line.answer.as_ref().and_then(Captured::value);
            let after = answer.and_then(|answer| answer.get("payload"));
            let changed = before.zip(after).and_then(|(old, new)| fields(old, new));
            if line.effect.is_some() {
                before = after;
            }
            changed
        }
        _ => None,
    });
    let changed: Vec<_> = changed.collect();
    for (line, changed) in calls.iter_mut().zip(changed) {
        line.changed = changed;
    }
}

/// The fields in which two objects differ.
fn fields(old: &Value, new: &Value) -> Option<Vec<String>> {
    let (old, new) = (old.as_object()?, new.as_object()?);
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    let changed = new.iter().filter(|(key, value)| old.get(*key) != Some(value));
    let mut fields: Vec<_> = changed.map(|(key, _)| key).chain(gone).cloned().collect();
    fields.sort_unstable();
    Some(fields)
}
