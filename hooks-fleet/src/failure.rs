//! How a call of a remote handler fails, and whether the handler may have run.

use std::time::Duration;

use hooks_runtime::report::escaped;
use thiserror::Error;

use crate::wire::RefusalReason;

/// Why there is no answer of a remote handler: the error of its failure.
///
/// The policy of the handler applies to every one of them; a gate fails closed. An answer, also
/// a rejection, is none of these.
///
/// ```
/// use hooks_fleet::{MayHaveRun, RemoteFailure};
///
/// let absent = RemoteFailure::Absent { service: "policy".into() };
/// assert_eq!(absent.may_have_run(), MayHaveRun::No);
/// assert_eq!(absent.to_string(), "no process of the service `policy` serves it: nothing ran");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RemoteFailure {
    /// Nobody serves it: no process of the service is there, or none has a handler of that name.
    #[error("no process of the service `{service}` serves it: nothing ran")]
    Absent {
        /// The service.
        service: String,
    },
    /// There was no connection in the time that was left.
    #[error("there is no connection to the service `{service}`: nothing ran")]
    Unreachable {
        /// The service.
        service: String,
    },
    /// No answer came in time.
    #[error("no answer of the service `{service}` within {limit:?}: it may have run")]
    TimedOut {
        /// The service.
        service: String,
        /// The time limit of the handler. The call gives up a little before.
        limit: Duration,
    },
    /// The connection was lost while the answer was waited for.
    #[error("the connection to the service `{service}` was lost: it may have run")]
    Lost {
        /// The service.
        service: String,
    },
    /// The handler ran and failed.
    #[error(
        "it failed in `{}` of the service `{service}` ({}): {}",
        escaped(instance),
        escaped(cause),
        escaped(message)
    )]
    Failed {
        /// The service.
        service: String,
        /// Which process of it.
        instance: String,
        /// One word: `error`, `panic`, `timeout`, …
        cause: String,
        /// What it said.
        message: String,
    },
    /// The call was refused before the handler was called.
    #[error("refused ({}): {}; nothing ran", why.as_str(), escaped(message))]
    Refused {
        /// The service.
        service: String,
        /// Why.
        why: RefusalReason,
        /// The same for people.
        message: String,
    },
    /// An answer came that cannot be one.
    #[error(
        "the answer of the service `{service}` is refused: {}; it may have run",
        escaped(problem)
    )]
    BadReply {
        /// The service.
        service: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The request is larger than the carrier takes. It was not sent.
    #[error("the request has {size} bytes, {limit} are allowed; nothing ran: send less")]
    TooLarge {
        /// Its size.
        size: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// A durable delivery was not stored.
    #[error("it was not stored for the service `{service}`: {}", escaped(problem))]
    NotStored {
        /// The service.
        service: String,
        /// Why not.
        problem: String,
    },
}

/// Whether a handler that did not answer may have run all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MayHaveRun {
    /// It did not run.
    No,
    /// It may have: an attempt more could be its second.
    Perhaps,
    /// It did.
    Yes,
}

impl RemoteFailure {
    /// Whether the handler may have run.
    pub fn may_have_run(&self) -> MayHaveRun {
        match self {
            Self::Absent { .. }
            | Self::Unreachable { .. }
            | Self::Refused { .. }
            | Self::TooLarge { .. } => MayHaveRun::No,
            Self::TimedOut { .. }
            | Self::Lost { .. }
            | Self::NotStored { .. }
            // Who answered is not known, or what: neither is whether it ran.
            | Self::BadReply { .. } => MayHaveRun::Perhaps,
            Self::Failed { .. } => MayHaveRun::Yes,
        }
    }

    /// Whether another attempt is allowed: where nothing ran and a moment may change that, or
    /// where the handler is declared idempotent and its fate is unknown.
    pub fn may_be_retried(&self, idempotent: bool) -> bool {
        match self {
            Self::Absent { .. } | Self::Unreachable { .. } => true,
            Self::Refused { why, .. } => why.is_passing(),
            Self::TimedOut { .. } | Self::Lost { .. } => idempotent,
            Self::Failed { .. }
            | Self::BadReply { .. }
            | Self::TooLarge { .. }
            | Self::NotStored { .. } => false,
        }
    }

    /// One word for logs and counters.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Absent { .. } => "absent",
            Self::Unreachable { .. } => "unreachable",
            Self::TimedOut { .. } => "timed_out",
            Self::Lost { .. } => "lost",
            Self::Failed { .. } => "failed",
            Self::Refused { .. } => "refused",
            Self::BadReply { .. } => "bad_reply",
            Self::TooLarge { .. } => "too_large",
            Self::NotStored { .. } => "not_stored",
        }
    }

    /// The failure behind an error of a fire, where a remote handler caused it.
    pub fn of(error: &hooks_runtime::FireError) -> Option<&Self> {
        match error.failure()?.kind() {
            hooks_runtime::error::FailureKind::Error(error) => error.downcast_ref(),
            _ => None,
        }
    }
}
