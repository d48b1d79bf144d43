//! The events that observers receive: fires, steps, calls and handlers.

use crate::error::FireError;
use crate::flow::FlowStep;
use crate::point::{FailurePolicy, ModelKind, PointDescriptor, SourceLocation};
use crate::registry::entry::{Entry, Owner};

/// A fire, as an observer sees it.
#[derive(Clone, Debug)]
pub struct ObservedFire {
    id: u64,
    point: &'static PointDescriptor,
    depth: usize,
    run: Option<u64>,
}

impl ObservedFire {
    pub(crate) fn new(
        id: u64,
        point: &'static PointDescriptor,
        depth: usize,
        run: Option<u64>,
    ) -> Self {
        Self { id, point, depth, run }
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
