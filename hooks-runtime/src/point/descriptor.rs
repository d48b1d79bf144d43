//! A point's declaration as data, and where it is written.

use std::fmt;
use std::time::Duration;

use super::{FailurePolicy, ModelKind};
use crate::flow::StageKind;
use crate::sync::statics::{AtomicUsize, Ordering};

/// Where something is written.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points, on};
/// # hook_points! { pub void Rang { bell: u32 } }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let written = line!() + 1;
/// hooks.register(on::<Rang>().handler(|_: &RangPayload| ()))?;
/// let at = hooks.handlers()[0].location;
/// assert_eq!((at.file(), at.line()), (file!(), written));
/// assert_eq!(at.to_string(), format!("{}:{written}:{}", file!(), at.column()));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceLocation {
    file: &'static str,
    line: u32,
    column: u32,
}

impl SourceLocation {
    #[doc(hidden)]
    pub const fn new(file: &'static str, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }

    /// The caller of a `#[track_caller]` function.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        let at = std::panic::Location::caller();
        Self::new(at.file(), at.line(), at.column())
    }

    /// The file, as the compiler was given it.
    pub const fn file(&self) -> &'static str {
        self.file
    }

    /// The line, from 1.
    pub const fn line(&self) -> u32 {
        self.line
    }

    /// The column, from 1.
    pub const fn column(&self) -> u32 {
        self.column
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A point's declaration as data, one static for each point.
///
/// ```
/// # use std::time::Duration;
/// # use hooks_runtime::{BeforeExecute, FailurePolicy, HookPoint, OnError, hook_points};
/// # use hooks_runtime::flow::StageKind;
/// # use hooks_runtime::point::ModelKind;
/// hook_points! {
///     /// One parcel, stage by stage.
///     #[hook(name = "parcels:send", timeout = "9s")]
///     pub flow Parcel(String) -> u32;
/// }
///
/// let sending = BeforeExecute::<Parcel>::descriptor();
/// assert_eq!(sending.name(), "parcels:send/beforeExecute");
/// assert_eq!((sending.stage(), sending.flow()), (Some(StageKind::BeforeExecute), Some("parcels:send")));
/// assert_eq!((sending.model(), sending.policy()), (ModelKind::Stage, FailurePolicy::Closed));
/// assert_eq!(sending.time_limit(), Some(Duration::from_secs(9)));
/// assert_eq!(Parcel::descriptor().doc(), "One parcel, stage by stage.");
/// assert!(OnError::<Parcel>::descriptor().is_fixed() && !sending.is_fixed());
/// assert_eq!(sending.location(), Parcel::descriptor().location());
/// ```
pub struct PointDescriptor {
    name: &'static str,
    model: ModelKind,
    doc: &'static str,
    location: SourceLocation,
    timeout: Option<Duration>,
    policy: FailurePolicy,
    stage: Option<StageKind>,
    /// Whether handlers must not even tighten the policy.
    fixed: bool,
    /// This point's place in every registry's table; zero is "not yet".
    index: AtomicUsize,
}

/// The next index; zero is kept for "not yet".
static NEXT_INDEX: AtomicUsize = AtomicUsize::new(1);

impl PointDescriptor {
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        model: ModelKind,
        doc: &'static str,
        location: SourceLocation,
    ) -> Self {
        Self {
            name,
            model,
            doc,
            location,
            timeout: None,
            policy: model.policy,
            fixed: false,
            stage: None,
            index: AtomicUsize::new(0),
        }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn on_failure(mut self, policy: FailurePolicy) -> Self {
        self.policy = policy;
        self
    }

    pub(crate) const fn stage_of(mut self, stage: StageKind) -> Self {
        self.stage = Some(stage);
        self
    }

    /// The stage, if this is one of a flow.
    pub const fn stage(&self) -> Option<StageKind> {
        self.stage
    }

    /// Whether this is a stage at the end of a run, whatever came before.
    pub(crate) const fn ends_run(&self) -> bool {
        matches!(self.stage, Some(StageKind::OnError | StageKind::Finally))
    }

    /// The wire name of the flow, if this is a stage of one.
    pub fn flow(&self) -> Option<&'static str> {
        self.stage.and_then(|_| self.name.rsplit_once('/')).map(|(flow, _)| flow)
    }

    pub(crate) const fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }

    /// Whether the outcome is final, whatever the handlers of this point do.
    pub const fn is_fixed(&self) -> bool {
        self.fixed
    }

    /// The wire name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The model.
    pub const fn model(&self) -> ModelKind {
        self.model
    }

    /// The doc comment.
    pub const fn doc(&self) -> &'static str {
        self.doc
    }

    /// Where the point is declared.
    pub const fn location(&self) -> SourceLocation {
        self.location
    }

    /// The time limit of handlers that set none of their own.
    pub const fn time_limit(&self) -> Option<Duration> {
        self.timeout
    }

    /// What a handler's failure means here.
    pub const fn policy(&self) -> FailurePolicy {
        self.policy
    }

    /// The place of this point in every registry's table, or the place that no
    /// point has when this one was not used yet.
    #[inline]
    pub(crate) fn index_so_far(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }

    /// The place of this point in every registry's table.
    #[inline]
    pub(crate) fn index(&self) -> usize {
        match self.index.load(Ordering::Relaxed) {
            0 => self.assign_index(),
            index => index,
        }
    }

    /// Two threads may both take a number; the first one stored is kept, the
    /// other stays unused.
    #[cold]
    fn assign_index(&self) -> usize {
        let drawn = NEXT_INDEX.fetch_add(1, Ordering::Relaxed);
        match self.index.compare_exchange(0, drawn, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => drawn,
            Err(stands) => stands,
        }
    }
}

impl fmt::Debug for PointDescriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PointDescriptor")
            .field("name", &self.name)
            .field("model", &self.model)
            .field("policy", &self.policy)
            .field("timeout", &self.timeout)
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}
