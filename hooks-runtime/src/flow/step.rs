//! The steps of a flow between its stages, as reports and observers show them.

use std::fmt;
use std::time::Duration;

use crate::escape::escaped;

/// A step of a flow that is the host's: its validation or its operation.
///
/// ```
/// use hooks_runtime::flow::FlowStep;
///
/// assert_eq!(FlowStep::Validation.name(), "validation");
/// assert_eq!(FlowStep::Operation.to_string(), "operation");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlowStep {
    /// The flow's own validation, after `BeforeValidation`.
    Validation,
    /// The operation, after `BeforeExecute`.
    Operation,
}

impl FlowStep {
    /// The name in reports and spans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Operation => "operation",
        }
    }

    /// The host's code for it, in the log.
    pub(super) const fn of_a_flow(self) -> &'static str {
        match self {
            Self::Validation => "the validation of a flow",
            Self::Operation => "the operation of a flow",
        }
    }
}

impl fmt::Display for FlowStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What happened to one step in one run of a flow.
///
/// ```
/// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
/// # use hooks_runtime::flow::{NotRun, StepStatus};
/// # hook_points! { pub flow Weigh(u32) -> u32; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// hooks.register(on::<BeforeExecute<Weigh>>().handler(|flow: &mut FlowContext<Weigh>| {
///     flow.respond(12);
/// }))?;
/// let weigh = async |_| -> Result<u32, std::io::Error> { unreachable!("answered before") };
/// let (_, report) = hooks.flow::<Weigh>().run_reported(1, weigh).await;
/// assert_eq!(report.operation().status(), &StepStatus::NotRun(NotRun::Answered));
/// assert_eq!(report.operation().elapsed(), None);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StepReport {
    status: StepStatus,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "elapsed_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    elapsed: Option<Duration>,
}

impl StepReport {
    pub(super) fn ended(status: StepStatus, elapsed: Duration) -> Self {
        Self { status, elapsed: Some(elapsed) }
    }

    pub(super) fn not_run(reason: NotRun) -> Self {
        Self { status: StepStatus::NotRun(reason), elapsed: None }
    }

    /// What became of it.
    pub fn status(&self) -> &StepStatus {
        &self.status
    }

    /// How long it ran; `None` when it was not run.
    pub fn elapsed(&self) -> Option<Duration> {
        self.elapsed
    }
}

/// What became of a step in one run of a flow.
///
/// ```
/// use hooks_runtime::flow::{NotRun, StepStatus};
///
/// let failed = StepStatus::Failed { kind: "error", message: "no paper".to_owned() };
/// assert_eq!((failed.as_str(), failed.to_string()), ("error", "error: no paper".to_owned()));
/// assert_eq!(StepStatus::NotRun(NotRun::NotReached).as_str(), "not_run");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StepStatus {
    /// It ran to its end.
    Ran,
    /// It failed.
    Failed {
        /// `error` or `panic`.
        kind: &'static str,
        /// The message of the failure.
        message: String,
    },
    /// It was not run.
    NotRun(NotRun),
    /// The run was dropped while it ran.
    Cancelled,
}

impl StepStatus {
    pub(super) fn error(message: String) -> Self {
        Self::Failed { kind: "error", message }
    }

    pub(super) fn panic(message: &str) -> Self {
        Self::Failed { kind: "panic", message: message.to_owned() }
    }

    /// One word for logs and counters: `ran`, `error`, `panic`, `not_run` or
    /// `cancelled`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Failed { kind, .. } => kind,
            Self::NotRun(_) => "not_run",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for StepStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ran => f.write_str("ran"),
            Self::Failed { kind, message } => write!(f, "{kind}: {}", escaped(message)),
            Self::NotRun(reason) => write!(f, "not run: {reason}"),
            Self::Cancelled => f.write_str("cancelled: the run was dropped"),
        }
    }
}

/// Why a step was not run.
///
/// The example of [`StepReport`] has a step that was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum NotRun {
    /// A handler answered in its place.
    Answered,
    /// The flow failed or was aborted before it.
    NotReached,
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "a handler answered",
            Self::NotReached => "the flow ended before it",
        })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for StepStatus {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use crate::wire::tagged;
        match self {
            Self::Ran => tagged(serializer, "ran")?.end(),
            Self::Failed { kind, message } => {
                tagged(serializer, "failed")?.with("failure", kind)?.with("message", message)?.end()
            }
            Self::NotRun(reason) => tagged(serializer, "not_run")?.with("by", reason)?.end(),
            Self::Cancelled => tagged(serializer, "cancelled")?.end(),
        }
    }
}
