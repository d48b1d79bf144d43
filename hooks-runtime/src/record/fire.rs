//! One fire that is recorded, from its begin to its end.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::capture::{CapturePolicy, Part, RawAnswer, made};
use super::format::{
    CallLine, CallStatus, Captured, Decision, Failure, FireLine, LineKind, NotCaptured,
    RecordedScope, StepLine, StepOutcome,
};
use super::queue::{Batch, Pending};
use super::slot::{RecordingState, nanoseconds};
use crate::engine::containment::shown;
use crate::engine::fire::FireInfo;
use crate::error::{FailureCause, FireError};
use crate::flow::{FlowStep, StepStatus};
use crate::handler::target::Target;
use crate::json::JsonPoint;
use crate::observe::{FireEnd, ObservedFire};
use crate::operator::rules::HandlerRules;
use crate::operator::trace::Payload;
use crate::operator::{Mode, Setting, SettingId};
use crate::plugin::PluginId;
use crate::plugin::scope::ScopedHooks;
use crate::point::{ModelKind, PointDescriptor};
use crate::registry::entry::Entry;
use crate::registry::list::HandlerList;
use crate::report::{Contribution, HandlerStatus};
use crate::sync::{Mutex, MutexGuard};

/// A fire that is recorded.
pub(crate) struct FireRecording {
    recording: Arc<RecordingState>,
    point: &'static PointDescriptor,
    policy: CapturePolicy,
    json: Option<JsonPoint>,
    generation: u64,
    at_ns: u64,
    scope: RecordedScope,
    parts: Mutex<Parts>,
}

/// What is known of the fire so far.
#[derive(Default)]
struct Parts {
    payload: Option<Captured>,
    targets: Vec<String>,
    /// The handlers' ids in the order of the list.
    order: Vec<u64>,
    /// When each call began.
    started: HashMap<u64, u64>,
    /// What handlers answered whose calls have not ended yet.
    answers: HashMap<u64, Captured>,
    output: Option<Captured>,
    calls: Vec<(u64, u64, CallLine)>,
    steps: Vec<StepLine>,
    /// How many bytes the values are, about.
    bytes: usize,
}

/// The number and the time of a call.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub(crate) call: u64,
    pub(crate) elapsed: Option<Duration>,
    /// Its limit, where it answered after that.
    pub(crate) overrun: Option<Duration>,
}

impl FireRecording {
    /// `None` where no recording is for fires of that point.
    pub(crate) fn of(FireInfo { hooks, point, .. }: FireInfo<'_>) -> Option<Box<Self>> {
        let recording = hooks.inner.recording.of_point(point)?;
        let generation = hooks.inner.recording.generation();
        let (policy, json) = (recording.policy(point), recording.json(point));
        let (at_ns, scope) = (recording.now_ns(), RecordedScope::of(hooks));
        let parts = Mutex::default();
        Some(Box::new(Self { recording, point, policy, json, generation, at_ns, scope, parts }))
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is written of a value. Code of the user, so not under the lock.
    fn capture(&self, part: Part, value: impl FnOnce() -> Option<RawAnswer>) -> Captured {
        let value = if self.policy.is_none() { None } else { value() };
        let most = self.recording.value_bytes;
        let (captured, bytes) = self.policy.capture(self.point, part, value, most);
        self.parts().bytes += bytes;
        captured
    }

    fn text(&self, text: &str) -> String {
        let text = self.policy.text(self.point, text, self.recording.value_bytes);
        self.parts().bytes += text.len();
        text
    }

    /// The fire begins, with that payload.
    pub(crate) fn begin(&self, payload: &mut Payload<'_>) {
        let captured = if self.point.stage().is_some() {
            Captured::Missing { why: NotCaptured::Shared }
        } else {
            self.capture(Part::Payload, || made(|| self.json?.payload(payload)))
        };
        self.parts().payload = Some(captured);
    }

    pub(crate) fn for_targets(&self, targets: &[Target]) {
        self.parts().targets = targets.iter().map(ToString::to_string).collect();
    }

    pub(crate) fn walks(&self, list: &HandlerList) {
        let order = list.handlers().map(|handler| handler.entry.id).collect();
        self.parts().order = order;
    }

    /// How answers are made into JSON, where they are wanted.
    pub(crate) fn captures_answers(&self) -> Option<JsonPoint> {
        self.json.filter(|_| !self.policy.is_none())
    }

    pub(crate) fn call_started(&self, call: u64) {
        let at_ns = self.recording.now_ns();
        self.parts().started.insert(call, at_ns);
    }

    pub(crate) fn answered(&self, entry: &Entry, answer: RawAnswer) {
        let answer = self.capture(Part::Answer, || Some(answer));
        self.parts().answers.insert(entry.id, answer);
    }

    /// What the operation of the flow returned.
    pub(crate) fn operated(&self, output: &dyn Any) {
        let output = self.capture(Part::Output, || made(|| self.json?.output(output)));
        self.parts().output = Some(output);
    }

    pub(crate) fn step(&self, step: FlowStep, status: &StepStatus, took: Option<Duration>) {
        let status = match status {
            StepStatus::Ran => StepOutcome::Ran,
            StepStatus::Failed { kind, message } => {
                StepOutcome::Failed(Failure::new(cause(kind), self.text(message)))
            }
            StepStatus::NotRun(by) => StepOutcome::NotRun { by: *by },
            StepStatus::Cancelled => StepOutcome::Cancelled,
        };
        let mut parts = self.parts();
        let output = parts.output.take();
        let (step, took_ns) = (step.name().to_owned(), took.map(nanoseconds));
        parts.steps.push(StepLine { fire: 0, step, status, took_ns, output });
    }

    /// A call has ended, or is not made.
    pub(crate) fn call_ended(
        &self,
        entry: &Entry,
        timed: Option<Timed>,
        status: &HandlerStatus,
        rules: Option<&HandlerRules>,
    ) {
        let call = timed.map(|timed| timed.call);
        let mut line = CallLine {
            fire: 0,
            call,
            place: 0,
            point: self.point.name().to_owned(),
            model: self.point.model().to_string(),
            handler: entry.name.to_string(),
            plugin: entry.plugin.as_ref().map(|plugin| plugin.id().to_string()),
            mode: rules.map_or(Mode::Enforce, |rules| rules.mode),
            policy: rules.and_then(|rules| rules.policy).unwrap_or(entry.policy),
            time_limit_ns: rules.and_then(|rules| rules.limit).or(entry.timeout).map(nanoseconds),
            settings: rules.map_or_else(Vec::new, |rules| {
                rules.settings.iter().map(Setting::id).map(SettingId::number).collect()
            }),
            status: CallStatus::Ran,
            decision: None,
            effect: None,
            failure: None,
            skipped: None,
            changed: None,
            answer: None,
            took_ns: timed.and_then(|timed| timed.elapsed).map(nanoseconds),
            overrun_ns: timed.and_then(|timed| {
                timed
                    .elapsed
                    .zip(timed.overrun)
                    .map(|(took, limit)| nanoseconds(took.saturating_sub(limit)))
            }),
        };
        match status {
            HandlerStatus::Ran(contribution) => {
                line.decision = Some(self.decision(contribution));
                line.effect.clone_from(&line.decision);
            }
            HandlerStatus::Filtered(reason) => {
                (line.status, line.skipped) = (CallStatus::Filtered, Some(*reason));
            }
            HandlerStatus::Failed { kind, message, .. } => {
                line.status = CallStatus::Failed;
                line.failure = Some(Failure::new(cause(kind), self.text(message)));
            }
            HandlerStatus::Cancelled => line.status = CallStatus::Cancelled,
            HandlerStatus::Shadowed { decision, .. } => {
                line.status = CallStatus::Shadowed;
                line.decision = Some(self.decision(decision));
            }
            HandlerStatus::ShadowFailed { kind, message } => {
                line.status = CallStatus::ShadowFailed;
                line.failure = Some(Failure::new(cause(kind), self.text(message)));
            }
        }
        let mut parts = self.parts();
        let started = call.and_then(|call| parts.started.remove(&call));
        let at_ns = started.unwrap_or(self.at_ns);
        line.answer = parts.answers.remove(&entry.id);
        // At a point that composes answers, one that is not here is missing for a reason.
        if line.answer.is_none() && line.decision.is_some() && self.composes() {
            let why = if self.policy.is_none() { NotCaptured::Policy } else { NotCaptured::NoJson };
            line.answer = Some(Captured::Missing { why });
        }
        parts.calls.push((entry.id, at_ns, line));
    }

    /// Whether the answers of handlers come to anything.
    fn composes(&self) -> bool {
        self.point.model() != ModelKind::Void && self.point.stage().is_none()
    }

    fn decision(&self, contribution: &Contribution) -> Decision {
        match Decision::from(contribution) {
            Decision::Rejected { reason } => Decision::Rejected { reason: self.text(&reason) },
            Decision::Aborted { reason } => Decision::Aborted { reason: self.text(&reason) },
            decision => decision,
        }
    }

    /// The fire has ended: hands it to the writer.
    pub(crate) fn end(&self, fire: &ObservedFire, end: &FireEnd<'_>, took: Duration) {
        let parts = std::mem::take(&mut *self.parts());
        let Parts { payload, targets, order, mut calls, steps, bytes, .. } = parts;
        let places: HashMap<_, _> = order.iter().zip(0..).collect();
        calls.sort_by_key(|(id, ..)| places.get(id).copied().unwrap_or(usize::MAX));
        // One that cannot begin has none.
        let payload = payload.unwrap_or_else(|| self.capture(Part::Payload, || None));
        note_changes(&payload, &mut calls);
        let error = match end {
            FireEnd::Failed(FireError::Failed(failure)) => {
                // To print the error again is code of the handler's owner, who may be gone.
                let is_its = |line: &CallLine| {
                    let plugin = failure.owner().plugin().map(PluginId::as_str);
                    line.handler == failure.handler() && line.plugin.as_deref() == plugin
                };
                let line = calls.iter().map(|(_, _, line)| line).find(|line| is_its(line));
                let message = line.and_then(|line| Some(&*line.failure.as_ref()?.message));
                Some(failure.with_message(message.unwrap_or(failure.kind().as_str())))
            }
            FireEnd::Failed(error) => Some(self.text(&shown(error))),
            FireEnd::FlowFailed(error) => Some(self.text(error)),
            FireEnd::Completed(_) | FireEnd::Dropped => None,
        };
        let bytes = bytes + error.as_ref().map_or(0, String::len);
        let count = |length| u32::try_from(length).unwrap_or(u32::MAX);
        let line = FireLine {
            fire: fire.id(),
            parent: fire.parent(),
            flow_run: fire.run(),
            depth: count(fire.depth()),
            point: fire.point().to_owned(),
            model: fire.model().to_string(),
            scope: self.scope.clone(),
            targets,
            payload,
            outcome: end.as_str().to_owned(),
            error,
            took_ns: nanoseconds(took),
            calls: count(calls.len()),
            steps: count(steps.len()),
        };
        let pending = |at_ns, kind| Pending { generation: self.generation, at_ns, kind };
        let mut lines = vec![pending(self.at_ns, LineKind::Fire(line))];
        lines.extend(calls.into_iter().zip(0..).map(|((_, at_ns, line), place)| {
            pending(at_ns, LineKind::Call(CallLine { fire: fire.id(), place, ..line }))
        }));
        lines.extend(
            steps.into_iter().map(|step| {
                pending(self.at_ns, LineKind::Step(StepLine { fire: fire.id(), ..step }))
            }),
        );
        self.recording.queue.add(Batch::fire(lines, bytes)).wake();
    }
}

/// Says of each call which fields it set or changed, as far as that is recorded.
fn note_changes(payload: &Captured, calls: &mut [(u64, u64, CallLine)]) {
    let mut before = payload.value();
    let changed = calls.iter().map(|(_, _, line)| match &line.decision {
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
    for ((_, _, line), changed) in calls.iter_mut().zip(changed) {
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

/// The cause that has that word.
fn cause(word: &str) -> FailureCause {
    let mut causes = FailureCause::ALL.into_iter();
    causes.find(|cause| cause.as_str() == word).unwrap_or(FailureCause::Error)
}

impl RecordedScope {
    fn of(hooks: &ScopedHooks) -> Self {
        let Some(scope) = &hooks.bits else { return Self::All };
        let (named, inverted) = scope.named();
        let plugins = named.map(str::to_owned).collect();
        if inverted { Self::Except { plugins } } else { Self::Only { plugins } }
    }
}
