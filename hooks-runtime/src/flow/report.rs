//! What happened in one run of a flow.

use std::fmt;
use std::sync::Arc;

use crate::escape::escaped;
use crate::flow::{FlowStep, NotRun, StageKind, StepReport};
use crate::operator::Setting;
use crate::registry::entry::Owner;
use crate::report::{FireReport, FlowColumns, add_counted};

/// What happened in one run of a flow: its stages, and the host's own steps
/// between them.
///
/// It prints as a table, in the order in which it happened. With the feature
/// `serde` it serialises, here as JSON:
///
/// ```json
/// {
///   "flow": "tools:call-tool",
///   "stages": [],
///   "validation": null,
///   "operation": {
///     "status": { "kind": "failed", "failure": "error", "message": "no such tool" },
///     "elapsed_ns": 4100
///   },
///   "recovery": {
///     "handler": "fall_back",
///     "owner": { "kind": "built_in" },
///     "error": "no such tool"
///   },
///   "break_glass": []
/// }
/// ```
///
/// The stages are [`FireReport`]s. `validation` is `null` in a run without one,
/// `recovery` in one that was not recovered.
///
/// ```
/// # use hooks_runtime::{FlowContext, HookRegistry, OnError, hook_points, on};
/// # hook_points! { pub flow Dial(String) -> String; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let fall_back = on::<OnError<Dial>>().name("fall_back");
/// hooks.register(fall_back.handler(|flow: &mut FlowContext<Dial>| {
///     flow.recover("voice mail".to_owned());
/// }))?;
/// let busy = async |_| Err::<String, _>("the line is busy");
/// let (reached, report) = hooks.flow::<Dial>().run_reported("7".to_owned(), busy).await;
/// assert_eq!(reached?, "voice mail");
/// assert_eq!((report.flow(), report.stages().len()), ("dial", 1));
/// assert_eq!(report.validation(), None);
/// assert_eq!(report.operation().status().to_string(), "error: the line is busy");
/// assert_eq!(report.recovery().unwrap().handler(), "fall_back");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FlowReport {
    flow: &'static str,
    stages: Vec<FireReport>,
    validation: Option<StepReport>,
    operation: StepReport,
    recovery: Option<Recovery>,
    break_glass: Vec<Setting>,
}

/// Who recovered a flow, and from which error.
///
/// ```
/// # use hooks_runtime::{FlowContext, HookRegistry, OnError, hook_points, on};
/// # use hooks_runtime::registry::Owner;
/// # hook_points! { pub flow Dial(String) -> String; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// # let later = on::<OnError<Dial>>().name("later");
/// # hooks.register(later.handler(|flow: &mut FlowContext<Dial>| { flow.recover(String::new()); }))?;
/// let busy = async |_| Err::<String, _>("the line is busy");
/// let (_, report) = hooks.flow::<Dial>().run_reported("7".to_owned(), busy).await;
/// let recovery = report.recovery().unwrap();
/// assert_eq!((recovery.handler(), recovery.owner()), ("later", &Owner::BuiltIn));
/// assert_eq!(recovery.error(), "the line is busy");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Recovery {
    handler: Arc<str>,
    owner: Owner,
    error: String,
}

impl Recovery {
    pub(super) fn new(handler: Arc<str>, owner: Owner, error: String) -> Self {
        Self { handler, owner, error }
    }

    /// The name of the handler that recovered.
    pub fn handler(&self) -> &str {
        &self.handler
    }

    /// Whose handler that is.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The error with which the operation failed, as text.
    pub fn error(&self) -> &str {
        &self.error
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handler, owner, error } = self;
        write!(f, "recovered by `{}` ({owner}) from: {}", escaped(handler), escaped(error))
    }
}

impl FlowReport {
    /// The report of a run in which nothing has happened yet.
    pub(super) fn new(flow: &'static str, validated: bool, break_glass: Vec<Setting>) -> Self {
        let not_reached = || StepReport::not_run(NotRun::NotReached);
        Self {
            flow,
            stages: Vec::new(),
            validation: validated.then(not_reached),
            operation: not_reached(),
            recovery: None,
            break_glass,
        }
    }

    pub(super) fn recovered(&mut self, recovery: Recovery) {
        self.recovery = Some(recovery);
    }

    pub(super) fn push(&mut self, stage: FireReport) {
        add_counted(&mut self.break_glass, stage.handlers());
        self.stages.push(stage);
    }

    pub(super) fn set(&mut self, step: FlowStep, report: StepReport) {
        match step {
            FlowStep::Validation => self.validation = Some(report),
            FlowStep::Operation => self.operation = report,
        }
    }

    /// The wire name of the flow.
    pub fn flow(&self) -> &'static str {
        self.flow
    }

    /// The stages that ran and had handlers, in order.
    pub fn stages(&self) -> &[FireReport] {
        &self.stages
    }

    /// What happened to the flow's own validation; `None` in a run without one.
    pub fn validation(&self) -> Option<&StepReport> {
        self.validation.as_ref()
    }

    /// What happened to the operation.
    pub fn operation(&self) -> &StepReport {
        &self.operation
    }

    /// Who recovered the flow from a failure of the operation, if it was.
    pub fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    /// The break-glass settings of an operator that held anywhere in the registry when the
    /// run began; what counted for a handler of it is among them.
    ///
    /// The example of [`FireReport::break_glass`] has one.
    pub fn break_glass(&self) -> &[Setting] {
        &self.break_glass
    }
}

impl fmt::Display for FlowReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (flow)", self.flow)?;
        if self.stages.is_empty() {
            f.write_str("\n  no handlers")?;
        }
        let validation = self.validation.as_ref().map(|report| (FlowStep::Validation, report));
        let operation = Some((FlowStep::Operation, &self.operation));
        let columns = FlowColumns::of(&self.stages, validation.into_iter().chain(operation));
        // Each step has its place behind a stage, whether that had handlers or not.
        let steps =
            [(StageKind::BeforeValidation, validation), (StageKind::BeforeExecute, operation)];
        let mut stages = self.stages.iter().peekable();
        for (behind, step) in steps {
            while let Some(stage) = stages.next_if(|stage| stage.stage() <= Some(behind)) {
                columns.write_stage(f, stage)?;
            }
            if let Some((step, report)) = step {
                columns.write_step(f, step, report)?;
            }
        }
        while let Some(stage) = stages.next_if(|stage| stage.stage() <= Some(StageKind::OnError)) {
            columns.write_stage(f, stage)?;
        }
        if let Some(recovery) = &self.recovery {
            write!(f, "\n  {recovery}")?;
        }
        for setting in &self.break_glass {
            write!(f, "\n  {setting}")?;
        }
        stages.try_for_each(|stage| columns.write_stage(f, stage))
    }
}
