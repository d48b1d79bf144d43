//! The events that observers receive: fires, steps, calls and handlers.

use crate::error::FireError;
use crate::flow::FlowStep;
use crate::operator::target::address;
use crate::point::{FailurePolicy, ModelKind, PointDescriptor, SourceLocation};
use crate::registry::entry::{Entry, Owner};

/// A fire, as an observer sees it.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::observe::{FireEnd, ObservedFire, Observer};
/// # use hooks_runtime::point::ModelKind;
/// # hook_points! { pub void Rang { bell: u32 } }
/// #[derive(Debug)]
/// struct Fires;
///
/// impl Observer for Fires {
///     fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
///         assert_eq!((fire.point(), fire.model()), ("rang", ModelKind::Void));
///         assert_eq!((fire.depth(), fire.parent(), fire.run()), (0, None, None)); // not nested, not in a flow
///         println!("fire {}: {}", fire.id(), end.as_str());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().observer(Fires).build();
/// hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ObservedFire {
    id: u64,
    point: &'static PointDescriptor,
    depth: usize,
    parent: Option<u64>,
    run: Option<u64>,
}

impl ObservedFire {
    pub(crate) fn new(
        id: u64,
        point: &'static PointDescriptor,
        (depth, parent): (usize, Option<u64>),
        run: Option<u64>,
    ) -> Self {
        Self { id, point, depth, parent, run }
    }

    /// The number of this fire: no other fire or call of this process has it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.point.name()
    }

    /// The model of the point.
    pub fn model(&self) -> ModelKind {
        self.point.model()
    }

    /// The number of the fire that this one is nested in: of a stage, that of the run.
    /// `None` where it is not nested, or in a fire that is not recorded, as is one of
    /// another registry without observers.
    pub fn parent(&self) -> Option<u64> {
        self.parent
    }

    /// How many fires this one is nested in.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Of a stage, the number of the flow's run that it is part of.
    pub fn run(&self) -> Option<u64> {
        self.run
    }
}

/// A step of a flow's run, as an observer sees it.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::flow::FlowStep;
/// # use hooks_runtime::observe::{ObservedStep, Observer};
/// # hook_points! { pub flow Press(u32) -> u32; }
/// #[derive(Debug)]
/// struct Steps;
///
/// impl Observer for Steps {
///     fn step_started(&self, step: &ObservedStep<'_>) {
///         assert_eq!((step.step(), step.run().point()), (FlowStep::Operation, "press"));
///         assert_ne!(step.id(), step.run().id());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().observer(Steps).build();
/// assert_eq!(hooks.flow::<Press>().run(1, async |n| Ok::<_, std::io::Error>(n)).await?, 1);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ObservedStep<'c> {
    id: u64,
    run: &'c ObservedFire,
    step: FlowStep,
}

impl<'c> ObservedStep<'c> {
    pub(crate) fn new(id: u64, run: &'c ObservedFire, step: FlowStep) -> Self {
        Self { id, run, step }
    }

    /// The number of this step: no other step, call or fire of this process has
    /// it. Zero where the step was not run.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The run that it is part of.
    pub fn run(&self) -> &ObservedFire {
        self.run
    }

    /// Which step it is.
    pub fn step(&self) -> FlowStep {
        self.step
    }
}

/// A call of a handler, as an observer sees it.
///
/// ```
/// # use hooks_runtime::{FailurePolicy, HookRegistry, hook_points, on};
/// # use hooks_runtime::observe::{ObservedCall, Observer};
/// # hook_points! { pub void Rang { bell: u32 } }
/// #[derive(Debug)]
/// struct Calls;
///
/// impl Observer for Calls {
///     fn handler_started(&self, call: &ObservedCall<'_>) {
///         assert_eq!((call.handler(), call.owner().as_ref()), ("open", "doors"));
///         assert_eq!((call.policy(), call.fire().point()), (FailurePolicy::Open, "rang"));
///         println!("call {} of what is at {}", call.id(), call.location());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().observer(Calls).build();
/// hooks.register(on::<Rang>().name("open").plugin("doors").handler(|_: &RangPayload| ()))?;
/// hooks.fire_void::<Rang>(&RangPayload { bell: 1 }).await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ObservedCall<'c> {
    id: u64,
    fire: &'c ObservedFire,
    entry: &'c Entry,
}

impl<'c> ObservedCall<'c> {
    pub(crate) fn new(id: u64, fire: &'c ObservedFire, entry: &'c Entry) -> Self {
        Self { id, fire, entry }
    }

    /// The number of this call: no other call or fire of this process has it.
    /// Zero where the handler was not called.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The fire that it is part of.
    pub fn fire(&self) -> &ObservedFire {
        self.fire
    }

    pub(crate) fn entry(&self) -> &'c Entry {
        self.entry
    }

    /// The handler's name.
    pub fn handler(&self) -> &str {
        &self.entry.name
    }

    /// Who registered the handler.
    pub fn owner(&self) -> Owner {
        self.entry.owner()
    }

    /// What a failure of the handler means for the fire.
    pub fn policy(&self) -> FailurePolicy {
        self.entry.policy
    }

    /// Where the handler is written.
    pub fn location(&self) -> SourceLocation {
        self.entry.location
    }
}

/// A registered handler, as an observer sees it.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # use hooks_runtime::observe::{ObservedHandler, Observer};
/// # use hooks_runtime::point::ModelKind;
/// # hook_points! { pub void Rang { bell: u32 } }
/// #[derive(Debug)]
/// struct Changes;
///
/// impl Observer for Changes {
///     fn registered(&self, added: &ObservedHandler<'_>) {
///         assert_eq!((added.handler(), added.point(), added.priority()), ("log", "rang", 5));
///         assert_eq!((added.model(), added.owner().plugin()), (ModelKind::Void, None));
///         assert!(added.location().file().ends_with(".rs"));
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::builder().observer(Changes).build();
/// hooks.register(on::<Rang>().name("log").priority(5).handler(|_: &RangPayload| ()))?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct ObservedHandler<'c> {
    entry: &'c Entry,
}

impl<'c> ObservedHandler<'c> {
    pub(crate) fn new(entry: &'c Entry) -> Self {
        Self { entry }
    }

    /// The wire name of its point.
    pub fn point(&self) -> &'static str {
        self.entry.point.name()
    }

    /// The model of its point.
    pub fn model(&self) -> ModelKind {
        self.entry.point.model()
    }

    /// Its name.
    pub fn handler(&self) -> &str {
        &self.entry.name
    }

    /// How an operator names it: `point:plugin/handler`, or `point:handler` where it is
    /// built-in.
    ///
    /// The example of [`HandlerInfo::address`](crate::registry::HandlerInfo::address) has one.
    pub fn address(&self) -> String {
        address(self.entry)
    }

    /// Who registered it.
    pub fn owner(&self) -> Owner {
        self.entry.owner()
    }

    /// Its priority: the lower number first.
    pub fn priority(&self) -> i32 {
        self.entry.priority
    }

    /// Where it is written.
    pub fn location(&self) -> SourceLocation {
        self.entry.location
    }
}

/// How a fire ended.
///
/// ```
/// use hooks_runtime::FireError;
/// use hooks_runtime::observe::FireEnd;
///
/// assert_eq!(FireEnd::Completed("claimed").as_str(), "claimed");
/// assert_eq!(FireEnd::Failed(&FireError::NoRuntime).as_str(), "failed");
/// assert_eq!(FireEnd::Dropped.as_str(), "dropped");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FireEnd<'e> {
    /// It completed, with this outcome in one word: `notified`, `amended`, `unchanged`,
    /// `claimed`, `unclaimed`, `passed`, `rejected`; of a stage `ran`,
    /// `skipped` or `aborted`; of a flow `ran`, or `recovered` where its operation
    /// failed and a handler recovered.
    Completed(&'static str),
    /// It failed with this error.
    Failed(&'e FireError),
    /// A flow ended with this error, as text.
    FlowFailed(&'e str),
    /// It was dropped before its end.
    Dropped,
}

impl FireEnd<'_> {
    /// One word for logs and counters.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed(outcome) => outcome,
            Self::Failed(_) | Self::FlowFailed(_) => "failed",
            Self::Dropped => "dropped",
        }
    }
}
