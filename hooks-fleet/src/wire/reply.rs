//! What the process that serves answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to a [`Request`](super::Request).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The version of the contract: 1.
    pub v: u32,
    /// That of the request.
    pub call: String,
    /// That of the request.
    pub attempt: u32,
    /// The instance of the service that answers, as it was announced.
    pub instance: String,
    /// That of the request: what the answer was written for.
    pub schema: String,
    /// How long the handler took, in microseconds.
    #[serde(default)]
    pub took_us: u64,
    /// What came of it.
    pub outcome: ReplyOutcome,
}

/// What came of a call: three things that are never taken for each other. It decided, it had
/// no opinion, it failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReplyOutcome {
    /// The handler answered; a rejection is an answer.
    Answer {
        /// What it answered, in the form of its model.
        answer: Value,
    },
    /// The handler was not called, for a reason that is its own: no opinion.
    Skipped {
        /// Why not.
        reason: SkippedReason,
    },
    /// The handler ran and failed.
    Failed {
        /// One word: `error`, `panic`, `timeout`, …
        cause: String,
        /// What it said.
        message: String,
    },
    /// The handler was not called, and nothing ran.
    Refused {
        /// Why not.
        why: RefusalReason,
        /// The same for people.
        message: String,
    },
}

/// Why a handler had no opinion without being called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkippedReason {
    /// Its condition was not met.
    Condition,
    /// It is called once, and was.
    Once,
    /// An operator of the serving process has disabled it.
    Disabled,
    /// An operator of the serving process has it called for a sample of fires.
    SampledOut,
    /// An operator of the serving process runs it in shadow.
    Shadow,
    /// It is bound to a target, and this call has none.
    Target,
}

/// Why a process refused a call before anything ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// No time was left.
    Expired,
    /// The payload was written for another schema.
    Incompatible,
    /// As many calls as it takes are under way.
    Overloaded,
    /// It is about to leave.
    Draining,
    /// It has no such handler.
    UnknownHandler,
    /// The request cannot be read, or contradicts its headers.
    Malformed,
    /// Fires are nested too deep.
    TooDeep,
}

impl RefusalReason {
    /// One word, as it is on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Incompatible => "incompatible",
            Self::Overloaded => "overloaded",
            Self::Draining => "draining",
            Self::UnknownHandler => "unknown_handler",
            Self::Malformed => "malformed",
            Self::TooDeep => "too_deep",
        }
    }

    /// Whether another attempt may fare better: another instance, or a moment later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Overloaded | Self::Draining)
    }
}
