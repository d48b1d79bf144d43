//! What happened in one fire, handler by handler.

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::entry::{Entry, Owner};
use crate::point::{ModelKind, PointDescriptor};
use crate::policy::FailurePolicy;
use crate::sync::Mutex;

/// What happened in one fire, handler by handler, in the order of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireReport {
    point: &'static str,
    model: ModelKind,
    handlers: Vec<HandlerReport>,
}

/// What happened to one handler in one fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandlerReport {
    handler: Arc<str>,
    owner: Owner,
    status: HandlerStatus,
    elapsed: Option<Duration>,
}

/// What became of a handler in one fire.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerStatus {
    /// It ran to its end.
    Ran(Contribution),
    /// It was not called.
    Filtered(Filter),
    /// It failed.
    Failed {
        /// `error`, `panic`, `timeout` or `no_timer`.
        kind: &'static str,
        /// What it said.
        message: String,
        /// What the failure meant for the fire.
        policy: FailurePolicy,
    },
    /// The fire was dropped while it ran.
    Cancelled,
}

/// What a handler that ran added to the outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contribution {
    /// Nothing: no opinion, no claim, or a void point.
    Nothing,
    /// These fields of the result; what it set of others came too late.
    Fields(Vec<&'static str>),
    /// The claim.
    Claimed,
    /// It let the payload pass as it was.
    Passed,
    /// It put another payload in place.
    Replaced,
    /// It rejected the payload, for this reason.
    Rejected(String),
    /// It skipped the rest of its stage.
    Skipped,
    /// It aborted the flow, for this reason.
    Aborted(String),
}

/// Why a handler was not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Filter {
    /// Its plugin is not in the scope of the fire.
    Scope,
    /// It is bound to another target.
    Target,
    /// It was unregistered while the fire was under way.
    Unregistered,
    /// An earlier handler claimed.
    AfterClaim,
    /// An earlier handler rejected.
    AfterRejection,
    /// An earlier handler failed closed.
    AfterFailure,
    /// An earlier handler skipped the rest of the stage.
    AfterSkip,
    /// An earlier handler aborted the flow.
    AfterAbort,
}

impl FireReport {
    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.point
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.model
    }

    /// The handlers, in order.
    pub fn handlers(&self) -> &[HandlerReport] {
        &self.handlers
    }

    /// The handler of that name, of whichever owner comes first.
    pub fn handler(&self, name: &str) -> Option<&HandlerReport> {
        self.handlers.iter().find(|row| &*row.handler == name)
    }
}

impl HandlerReport {
    /// The handler's name.
    pub fn handler(&self) -> &str {
        &self.handler
    }

    /// Who registered it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// What became of it.
    pub fn status(&self) -> &HandlerStatus {
        &self.status
    }

    /// How long it ran; `None` when it was not called.
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }
}

impl fmt::Display for FireReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.point, self.model)?;
        if self.handlers.is_empty() {
            return f.write_str("\n  nobody listens");
        }
        let width = self.handlers.iter().map(|row| row.handler.chars().count()).max().unwrap_or(0);
        for row in &self.handlers {
            write!(f, "\n  {:width$}  {}", row.handler, row.status)?;
            if let Some(elapsed) = row.elapsed {
                write!(f, " in {elapsed:.1?}")?;
            }
            if let Owner::Plugin(id) = &row.owner {
                write!(f, "  [{id}]")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for HandlerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran(contribution) => write!(f, "{contribution}"),
            Self::Filtered(filter) => write!(f, "not called: {filter}"),
            Self::Failed { kind, message, policy } => write!(f, "{kind}, {policy}: {message}"),
            Self::Cancelled => f.write_str("cancelled: the fire was dropped"),
        }
    }
}

impl fmt::Display for Contribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("ran"),
            Self::Fields(fields) if fields.is_empty() => f.write_str("ran, set nothing"),
            Self::Fields(fields) => write!(f, "set {}", fields.join(", ")),
            Self::Claimed => f.write_str("claimed"),
            Self::Passed => f.write_str("passed"),
            Self::Replaced => f.write_str("replaced the payload"),
            Self::Rejected(reason) => write!(f, "rejected: {reason}"),
            Self::Skipped => f.write_str("skipped the rest of the stage"),
            Self::Aborted(reason) => write!(f, "aborted: {reason}"),
        }
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scope => "its plugin is not in scope",
            Self::Target => "bound to another target",
            Self::Unregistered => "unregistered meanwhile",
            Self::AfterClaim => "an earlier handler claimed",
            Self::AfterRejection => "an earlier handler rejected",
            Self::AfterFailure => "an earlier handler failed closed",
            Self::AfterSkip => "an earlier handler skipped the rest of the stage",
            Self::AfterAbort => "an earlier handler aborted the flow",
        })
    }
}

/// Collects the rows of a report while a fire runs.
#[derive(Debug, Default)]
pub(crate) struct Recorder(Mutex<Vec<(u64, HandlerReport)>>);

impl Recorder {
    pub(crate) fn note(&self, entry: &Entry, status: HandlerStatus, elapsed: Option<Duration>) {
        let row = HandlerReport {
            handler: Arc::clone(&entry.name),
            owner: entry.owner(),
            status,
            elapsed,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((entry.id, row));
    }

    /// The report, its rows in the order of `ids`: concurrent handlers end in
    /// any order, but are listed in the one in which they started.
    pub(crate) fn finish(
        self,
        point: &PointDescriptor,
        ids: impl Iterator<Item = u64>,
    ) -> FireReport {
        let mut rows = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let places: std::collections::HashMap<_, _> =
            ids.enumerate().map(|(place, id)| (id, place)).collect();
        rows.sort_by_key(|(id, _)| places.get(id).copied().unwrap_or(usize::MAX));
        FireReport {
            point: point.name(),
            model: point.model(),
            handlers: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }
}
