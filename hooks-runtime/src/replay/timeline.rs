//! What happened in a fire, as it was recorded or as it was replayed: two of one shape.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::error::FailureCause;
use crate::escape::escaped;
use crate::observe::ObservedCall;
use crate::point::FailurePolicy;
use crate::record::{CallLine, CallStatus, Captured, Decision, Failure, RecordedFire};
use crate::registry::entry::Owner;
use crate::report::{HandlerStatus, SkipReason};

/// What happened in one fire: its handlers in order, and what it came to.
///
/// The example of [`replay`](super::replay()) looks at one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The handlers, in the order in which the fire walked them.
    pub rows: Vec<TimelineRow>,
    /// What it came to, in the words of [`FireEnd`](crate::observe::FireEnd); `unknown` where
    /// that cannot be told.
    pub outcome: String,
    /// The text of its error, where it failed.
    pub error: Option<String>,
}

/// One handler in a fire. It prints as what became of it.
///
/// The example of [`replay`](super::replay()) prints one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TimelineRow {
    /// `plugin/handler`, or the name alone where it is built-in; of a run of a flow with the
    /// stage behind it, as `plugin/handler in onError`.
    pub handler: String,
    /// What became of it.
    pub status: CallStatus,
    /// What it decided, with or without an effect.
    pub decision: Option<Decision>,
    /// What of that had an effect on the fire.
    pub effect: Option<Decision>,
    /// How it failed.
    pub failure: Option<Failure>,
    /// Why it was not called.
    pub skipped: Option<SkipReason>,
    /// What a failure of it means for the fire.
    pub policy: FailurePolicy,
    /// What it answered, where that is known.
    pub answer: Option<Value>,
    /// Whether it is one of a stage, where an answer is what it did to the run.
    #[serde(skip)]
    is_of_stage: bool,
}

/// `plugin/handler`, or the name alone.
pub(super) fn full_name(plugin: Option<&str>, handler: &str) -> String {
    match plugin {
        Some(plugin) => format!("{plugin}/{handler}"),
        None => handler.to_owned(),
    }
}

/// A handler of a stage, as one of its run.
pub(super) fn in_stage(handler: &str, point: &str) -> String {
    let stage = point.rsplit_once('/').map_or(point, |(_, stage)| stage);
    format!("{handler} in {stage}")
}

/// A value that was recorded as it was. What is left of it after a redaction is another one.
pub(super) fn full(captured: &Captured) -> Option<&Value> {
    match captured {
        Captured::Full { value } => Some(value),
        _ => None,
    }
}

impl Timeline {
    pub(super) fn recorded(recorded: &RecordedFire) -> Self {
        Self {
            rows: recorded.calls.iter().map(TimelineRow::recorded).collect(),
            outcome: recorded.fire.outcome.clone(),
            error: recorded.fire.error.clone(),
        }
    }
}

impl TimelineRow {
    fn recorded(call: &CallLine) -> Self {
        Self {
            handler: full_name(call.plugin.as_deref(), &call.handler),
            status: call.status,
            decision: call.decision.clone(),
            effect: call.effect.clone(),
            failure: call.failure.clone(),
            skipped: call.skipped,
            policy: call.policy,
            answer: call.answer.as_ref().and_then(|answer| full(answer).cloned()),
            is_of_stage: false,
        }
    }

    /// A handler in a fire of the copy.
    pub(super) fn observed(call: &ObservedCall<'_>, status: &HandlerStatus) -> Self {
        let mut row = Self::new(call);
        match status {
            HandlerStatus::Ran(decision) => {
                row.decision = Some(decision.into());
                row.effect = row.decision.clone();
            }
            HandlerStatus::Filtered(reason) => {
                row.status = CallStatus::Filtered;
                row.skipped = Some(*reason);
            }
            HandlerStatus::Failed { kind, message, policy } => {
                row.status = CallStatus::Failed;
                row.failure = Some(failure(kind, message));
                row.policy = *policy;
            }
            HandlerStatus::Cancelled => row.status = CallStatus::Cancelled,
            HandlerStatus::Shadowed { decision, .. } => {
                row.status = CallStatus::Shadowed;
                row.decision = Some(decision.into());
            }
            HandlerStatus::ShadowFailed { kind, message } => {
                row.status = CallStatus::ShadowFailed;
                row.failure = Some(failure(kind, message));
            }
        }
        row
    }

    fn new(call: &ObservedCall<'_>) -> Self {
        let owner = call.owner();
        let plugin = match &owner {
            Owner::BuiltIn => None,
            Owner::Plugin(id) => Some(id.as_str()),
        };
        Self {
            handler: full_name(plugin, call.handler()),
            status: CallStatus::Ran,
            decision: None,
            effect: None,
            failure: None,
            skipped: None,
            policy: call.policy(),
            answer: None,
            is_of_stage: false,
        }
    }

    /// The row of a handler of a stage, as one of its run.
    pub(super) fn in_stage(mut self, point: &str) -> Self {
        self.handler = in_stage(&self.handler, point);
        self.is_of_stage = true;
        self
    }

    /// A handler that was not called when the fire was recorded, and so is not asked again.
    pub(super) fn skip(&mut self, reason: SkipReason) {
        self.status = CallStatus::Filtered;
        self.skipped = Some(reason);
        (self.decision, self.effect, self.failure) = (None, None, None);
    }

    /// What of it had an effect: nothing where it had no opinion, let the payload pass, was
    /// not called, or is in shadow.
    pub(super) fn contributed(&self) -> Option<&Decision> {
        self.effect.as_ref().filter(|effect| match effect {
            Decision::Nothing | Decision::Passed => false,
            Decision::Fields { fields } => !fields.is_empty(),
            _ => true,
        })
    }

    /// Whether its failure ended the fire, or is its error.
    pub(super) fn failed_closed(&self) -> bool {
        self.status == CallStatus::Failed && self.policy == FailurePolicy::Closed
    }

    /// Whether the fire would be the same without it.
    pub(super) fn is_neutral(&self) -> bool {
        let has_changed_run =
            self.is_of_stage && self.answer.as_ref().is_some_and(Value::is_object);
        self.contributed().is_none() && self.failure.is_none() && !has_changed_run
    }

    /// Whether it was not called because of what an earlier handler did.
    pub(super) fn is_consequence(&self) -> bool {
        matches!(
            self.skipped,
            Some(
                SkipReason::AfterClaim
                    | SkipReason::AfterRejection
                    | SkipReason::AfterFailure
                    | SkipReason::AfterSkip
                    | SkipReason::AfterAbort
            )
        )
    }
}

fn failure(kind: &str, message: &str) -> Failure {
    Failure::new(FailureCause::named(kind).unwrap_or(FailureCause::Error), message)
}

/// What became of it, in a few words.
impl fmt::Display for TimelineRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, decision, failure, skipped, policy, .. } = self;
        match (status, decision, failure, skipped) {
            (CallStatus::Shadowed, Some(decision), ..) => {
                write!(f, "in shadow: ")?;
                write_decision(decision, f)
            }
            (CallStatus::ShadowFailed, _, Some(failure), _) => {
                write!(f, "in shadow: failed ({})", failure.cause.as_str())?;
                write!(f, ": {}", escaped(&failure.message))
            }
            (_, _, Some(failure), _) => {
                write!(f, "failed ({}), {policy}: ", failure.cause.as_str())?;
                write!(f, "{}", escaped(&failure.message))
            }
            (_, _, _, Some(reason)) => write!(f, "not called: {}", reason.as_str()),
            (_, Some(decision), ..) => write_decision(decision, f),
            _ => f.write_str(status.as_str()),
        }
    }
}

fn write_decision(decision: &Decision, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match decision {
        Decision::Fields { fields } if !fields.is_empty() => {
            write!(f, "set {}", escaped(&fields.join(", ")))
        }
        Decision::Nothing | Decision::Fields { .. } => f.write_str("ran"),
        Decision::Rejected { reason } => write!(f, "rejected: {}", escaped(reason)),
        Decision::Aborted { reason } => write!(f, "aborted: {}", escaped(reason)),
        other => f.write_str(other.as_str()),
    }
}
