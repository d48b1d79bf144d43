//! One fire that is recorded, from its begin to its end.

use std::any::Any;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::capture::{CapturePolicy, Part, RawAnswer, made, raw_payload};
use super::ended::{EndedCall, EndedFire};
use super::format::{
    CallStatus, Captured, Decision, Failure, FireLine, NotCaptured, RecordedScope, StepLine,
    StepOutcome,
};
use super::polled;
use super::queue::Batch;
use super::slot::{RecordingState, nanoseconds};
use crate::engine::containment::shown;
use crate::engine::fire::FireInfo;
use crate::engine::raw::{Nested, chain};
use crate::error::{FailureCause, FireError};
use crate::flow::{FlowStep, StepStatus};
use crate::handler::target::Target;
use crate::json::JsonPoint;
use crate::observe::{FireEnd, ObservedFire};
use crate::operator::rules::HandlerRules;
use crate::operator::trace::Payload;
use crate::operator::{Mode, Setting, SettingId};
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
    /// The call that it is made in.
    parent_call: Option<u64>,
    parts: Mutex<Parts>,
}

/// What is known of the fire so far.
#[derive(Default)]
struct Parts {
    payload: Option<Captured>,
    targets: Vec<String>,
    /// The handlers' ids in the order of the list.
    order: Vec<u64>,
    /// When each call began that has not ended, by its number. They are few at once.
    started: Vec<(u64, u64)>,
    /// What handlers answered whose calls have not ended yet, by their ids.
    answers: Vec<(u64, Captured)>,
    output: Option<Captured>,
    calls: Vec<EndedCall>,
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
    /// Of the fire that the chain knows as `nested`; `None` where no recording is for fires of
    /// that point.
    pub(crate) fn of(
        FireInfo { hooks, point, .. }: FireInfo<'_>,
        nested: Nested,
        parent: Option<u64>,
    ) -> Option<Box<Self>> {
        let recording = hooks.inner.recording.of_point(point)?;
        let generation = hooks.inner.recording.generation();
        let (policy, json) = (recording.policy(point), recording.json(point));
        // The clock is code of the one who records, which may fire in turn.
        let at_ns = chain::observing(nested, || recording.now_ns());
        let scope = RecordedScope::of(hooks);
        let (parent_call, parts) = (parent.and_then(polled::call_of), Mutex::default());
        Some(Box::new(Self {
            recording,
            point,
            policy,
            json,
            generation,
            at_ns,
            scope,
            parent_call,
            parts,
        }))
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
            self.capture(Part::Payload, || raw_payload(self.json?, payload))
        };
        self.parts().payload = Some(captured);
    }

    pub(crate) fn for_targets(&self, targets: &[Target]) {
        let targets: Vec<_> = targets.iter().map(ToString::to_string).collect();
        let mut parts = self.parts();
        parts.bytes += targets.iter().map(String::len).sum::<usize>();
        parts.targets = targets;
    }

    pub(crate) fn walks(&self, list: &HandlerList) {
        let order: Vec<_> = list.handlers().map(|handler| handler.entry.id).collect();
        let mut parts = self.parts();
        parts.calls.reserve_exact(order.len());
        parts.order = order;
    }

    /// How answers are made into JSON, where they are wanted.
    pub(crate) fn captures_answers(&self) -> Option<JsonPoint> {
        self.json.filter(|_| !self.policy.is_none())
    }

    pub(crate) fn call_started(&self, call: u64) {
        let at_ns = self.recording.now_ns();
        self.parts().started.push((call, at_ns));
    }

    pub(crate) fn answered(&self, entry: &Entry, answer: RawAnswer) {
        let answer = self.capture(Part::Answer, || Some(answer));
        self.parts().answers.push((entry.id, answer));
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
        let mut line = EndedCall {
            entry: entry.id,
            at_ns: self.at_ns,
            call,
            handler: Arc::clone(&entry.name),
            plugin: entry.plugin.as_ref().map(|plugin| plugin.id().clone()),
            mode: rules.map_or(Mode::Enforce, |rules| rules.mode),
            policy: rules.and_then(|rules| rules.policy).unwrap_or(entry.policy),
            limit: rules.and_then(|rules| rules.limit).or(entry.timeout),
            settings: rules.map_or_else(Vec::new, |rules| {
                rules.settings.iter().map(Setting::id).map(SettingId::number).collect()
            }),
            status: CallStatus::Ran,
            decision: None,
            failure: None,
            skipped: None,
            answer: None,
            took: timed.and_then(|timed| timed.elapsed),
            overrun: timed.and_then(|timed| timed.overrun),
        };
        match status {
            HandlerStatus::Ran(contribution) => {
                line.decision = Some(self.decision(contribution));
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
        let started = call.and_then(|call| taken(&mut parts.started, call));
        line.at_ns = started.unwrap_or(self.at_ns);
        line.answer = taken(&mut parts.answers, entry.id);
        // At a point that composes answers, one that is not here is missing for a reason; in a
        // stage also what a handler did before it failed.
        let is_missing = match self.point.stage() {
            Some(_) => line.decision.is_some() || line.failure.is_some(),
            None => line.decision.is_some() && self.point.model() != ModelKind::Void,
        };
        if line.answer.is_none() && is_missing {
            let why = if self.policy.is_none() { NotCaptured::Policy } else { NotCaptured::NoJson };
            line.answer = Some(Captured::Missing { why });
        }
        parts.calls.push(line);
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
        let Parts { payload, targets, order, calls, steps, bytes, .. } = parts;
        // One that cannot begin has none.
        let payload = payload.unwrap_or_else(|| self.capture(Part::Payload, || None));
        let error = match end {
            FireEnd::Failed(FireError::Failed(failure)) => {
                // To print the error again is code of the handler's owner, who may be gone.
                let is_its = |call: &&EndedCall| {
                    let owner = failure.owner();
                    &*call.handler == failure.handler() && call.plugin.as_ref() == owner.plugin()
                };
                let line = calls.iter().find(is_its);
                let message = line.and_then(|line| Some(&*line.failure.as_ref()?.message));
                Some(failure.with_message(message.unwrap_or(failure.kind().as_str())))
            }
            FireEnd::Failed(error) => Some(self.text(&shown(error))),
            FireEnd::FlowFailed(error) => Some(self.text(error)),
            FireEnd::Completed(_) | FireEnd::Dropped => None,
        };
        let bytes = bytes + error.as_ref().map_or(0, String::len) + self.scope.bytes();
        let count = |length| u32::try_from(length).unwrap_or(u32::MAX);
        let line = FireLine {
            fire: fire.id(),
            parent: fire.parent(),
            parent_call: self.parent_call,
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
        let (generation, at_ns, point) = (self.generation, self.at_ns, self.point);
        let ended = EndedFire { generation, at_ns, point, line, order, calls, steps };
        self.recording.queue.add(Batch::fire(ended, bytes)).wake();
    }
}

/// Takes what is there under that number.
fn taken<T>(all: &mut Vec<(u64, T)>, number: u64) -> Option<T> {
    let at = all.iter().position(|(known, _)| *known == number)?;
    Some(all.swap_remove(at).1)
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

    /// How many bytes the names in it are.
    fn bytes(&self) -> usize {
        match self {
            Self::All => 0,
            Self::Only { plugins } | Self::Except { plugins } => {
                plugins.iter().map(String::len).sum()
            }
        }
    }
}
