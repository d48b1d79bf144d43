//! The line of a handler in a fire.

use serde::{Deserialize, Serialize};

use super::captured::Captured;
use crate::error::FailureCause;
use crate::operator::Mode;
use crate::point::FailurePolicy;
use crate::report::{AnswerRefusal, Contribution, RecoveryRefusal, SkipReason};

/// One handler in one fire, called or not: in the order in which the fire walked them.
///
/// What the handler decided and what of that had an effect are two keys: of a handler in
/// shadow the second is `null`.
///
/// The example of [`RecordedFire`](crate::record::RecordedFire) reads one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallLine {
    /// The fire.
    pub fire: u64,
    /// The number of the call; `null` where the handler was not called.
    pub call: Option<u64>,
    /// Its place in the order of the fire, from 0.
    pub place: u32,
    /// The wire name of the point.
    pub point: String,
    /// The model of the point.
    pub model: String,
    /// The handler's name.
    pub handler: String,
    /// The plugin that registered it; `null` where it is built-in.
    pub plugin: Option<String>,
    /// Whether it was called, and whether what it decides counts.
    pub mode: Mode,
    /// What a failure of it meant for the fire: the policy that was in force.
    pub policy: FailurePolicy,
    /// How long the fire would wait for it.
    pub time_limit_ns: Option<u64>,
    /// The numbers of the settings that counted for it.
    pub settings: Vec<u64>,
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
    /// The fields that it set or changed: of the result at a modifying point, of the payload
    /// at a gating point, where both payloads were recorded. `null` where that is not known.
    pub changed: Option<Vec<String>>,
    /// What it answered, in the form in which a handler that speaks JSON answers (see
    /// [`json`](crate::json)): no opinion, no claim and a pass are answers too. `null` where
    /// there is no answer: at void points, and where it was not called or failed.
    ///
    /// In a stage: what it did to the run, also before it failed. A handler that speaks JSON
    /// asks for that with the same keys; beside these there are `changed`, the output where it
    /// changed that in place, `refused`, the key of an output that was refused, and `state`,
    /// where it changed the state of the run, of which nothing is recorded.
    pub answer: Option<Captured>,
    /// How long it ran; `null` where it was not called.
    pub took_ns: Option<u64>,
    /// How long after its limit it answered, if it did.
    pub overrun_ns: Option<u64>,
}

impl CallLine {
    /// How an operator names the handler: `point:plugin/handler`, or `point:handler`.
    ///
    /// The example of [`RecordedFire`](crate::record::RecordedFire) has one.
    pub fn address(&self) -> String {
        let Self { point, handler, plugin, .. } = self;
        match plugin {
            Some(plugin) => format!("{point}:{plugin}/{handler}"),
            None => format!("{point}:{handler}"),
        }
    }
}

/// What became of a handler in a fire, in one word.
///
/// ```
/// use hooks_runtime::record::CallStatus;
///
/// assert_eq!(CallStatus::ShadowFailed.as_str(), "shadow_failed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallStatus {
    /// It ran to its end.
    Ran,
    /// It was not called.
    Filtered,
    /// It failed.
    Failed,
    /// The fire was dropped while it ran.
    Cancelled,
    /// It ran in shadow.
    Shadowed,
    /// It failed in shadow.
    ShadowFailed,
}

impl CallStatus {
    /// The word, as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Filtered => "filtered",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Shadowed => "shadowed",
            Self::ShadowFailed => "shadow_failed",
        }
    }
}

/// How something failed.
///
/// ```
/// use hooks_runtime::error::FailureCause;
/// use hooks_runtime::record::Failure;
///
/// let failure = Failure::new(FailureCause::Timeout, "no answer in 5s");
/// assert_eq!((failure.cause.as_str(), &*failure.message), ("timeout", "no answer in 5s"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Failure {
    /// Why.
    pub cause: FailureCause,
    /// Its message.
    pub message: String,
}

impl Failure {
    /// A failure of that cause.
    pub fn new(cause: FailureCause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

/// What a handler decided: a [`Contribution`], as it is recorded.
///
/// ```
/// use hooks_runtime::record::Decision;
/// use hooks_runtime::report::Contribution;
///
/// let decision = Decision::from(&Contribution::Fields(vec!["title"]));
/// assert_eq!(decision, Decision::Fields { fields: vec!["title".to_owned()] });
/// assert_eq!(decision.as_str(), "fields");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Nothing: no opinion, no claim, or a void point.
    Nothing,
    /// These fields of the result.
    Fields {
        /// Their names.
        fields: Vec<String>,
    },
    /// The claim.
    Claimed,
    /// It let the payload pass as it was.
    Passed,
    /// It put another payload in place.
    Replaced,
    /// It rejected the payload.
    Rejected {
        /// The reason, as text.
        reason: String,
    },
    /// It answered in place of the flow's operation, or after it.
    Answered,
    /// It answered, and that was refused.
    AnswerRefused {
        /// Why.
        by: AnswerRefusal,
    },
    /// It recovered the flow.
    Recovered,
    /// It recovered, and that was refused.
    RecoveryRefused {
        /// Why.
        by: RecoveryRefusal,
    },
    /// It skipped the rest of its stage.
    Skipped,
    /// It aborted the flow.
    Aborted {
        /// The reason, as text.
        reason: String,
    },
}

impl Decision {
    /// One word, as it is written.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Fields { .. } => "fields",
            Self::Claimed => "claimed",
            Self::Passed => "passed",
            Self::Replaced => "replaced",
            Self::Rejected { .. } => "rejected",
            Self::Answered => "answered",
            Self::AnswerRefused { .. } => "answer_refused",
            Self::Recovered => "recovered",
            Self::RecoveryRefused { .. } => "recovery_refused",
            Self::Skipped => "skipped",
            Self::Aborted { .. } => "aborted",
        }
    }
}

impl From<&Contribution> for Decision {
    fn from(contribution: &Contribution) -> Self {
        match contribution {
            Contribution::Nothing => Self::Nothing,
            Contribution::Fields(fields) => {
                Self::Fields { fields: fields.iter().map(|field| (*field).to_owned()).collect() }
            }
            Contribution::Claimed => Self::Claimed,
            Contribution::Passed => Self::Passed,
            Contribution::Replaced => Self::Replaced,
            Contribution::Rejected(reason) => Self::Rejected { reason: reason.clone() },
            Contribution::Answered => Self::Answered,
            Contribution::AnswerRefused(by) => Self::AnswerRefused { by: *by },
            Contribution::Recovered => Self::Recovered,
            Contribution::RecoveryRefused(by) => Self::RecoveryRefused { by: *by },
            Contribution::Skipped => Self::Skipped,
            Contribution::Aborted(reason) => Self::Aborted { reason: reason.clone() },
        }
    }
}
