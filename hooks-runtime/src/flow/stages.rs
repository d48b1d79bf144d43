//! The stages of a flow, as points of their own.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use crate::error::{BoxError, RegisterError};
use crate::flow::FlowContext;
use crate::flow::stage_run::StageEnd;
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::Sealed;
use crate::model::{Flow, Model, RegistersAs, Returns, ReturnsNothing};
use crate::point::{FailurePolicy, HookPoint, ModelKind, PointDescriptor, SourceLocation};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

/// A flow, declared with `flow` in [`hook_points!`](crate::hook_points).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow",
    label = "expected a point declared `flow`",
    note = "stages belong to flows: declare `flow {Self}(Input) -> Output;` in `hook_points!`"
)]
pub trait FlowPoint: HookPoint<Model = Flow> {
    /// The wire names of the stages, in the order of [`StageKind::ALL`].
    const STAGE_NAMES: [&'static str; 6];

    /// The stages as data.
    #[doc(hidden)]
    fn stages() -> &'static StageDescriptors;
}

/// A stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StageKind {
    /// Before the input is validated.
    BeforeValidation,
    /// After the input was found valid.
    AfterValidation,
    /// Before the operation.
    BeforeExecute,
    /// After the operation, or an answer in its place.
    AfterExecute,
    /// When the flow fails or is aborted.
    OnError,
    /// At the end, however the flow ends.
    Finally,
}

impl StageKind {
    /// All stages, in their order.
    pub const ALL: [Self; 6] = [
        Self::BeforeValidation,
        Self::AfterValidation,
        Self::BeforeExecute,
        Self::AfterExecute,
        Self::OnError,
        Self::Finally,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BeforeValidation => "beforeValidation",
            Self::AfterValidation => "afterValidation",
            Self::BeforeExecute => "beforeExecute",
            Self::AfterExecute => "afterExecute",
            Self::OnError => "onError",
            Self::Finally => "finally",
        }
    }
}

impl fmt::Display for StageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The model of a flow's stages.
///
/// Handlers run one after another on the one [`FlowContext`] of the run.
#[derive(Clone, Copy, Debug)]
pub struct Stage;

impl Sealed for Stage {}

impl Model for Stage {
    const KIND: ModelKind = ModelKind::Stage;
    type Input<'a, P: HookPoint> = &'a mut P::Payload;
    type Output<P: HookPoint> = ();
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f mut P::Payload;
    type Accumulator<P: HookPoint> = StageEnd;
}

impl<P: HookPoint, T: ReturnsNothing<P>> Returns<Stage, P> for T {
    #[inline]
    fn into_output(self) -> Result<(), BoxError> {
        self.into_nothing()
    }
}

/// The descriptors of a flow's six stages.
#[derive(Debug)]
pub struct StageDescriptors([PointDescriptor; 6]);

impl StageDescriptors {
    #[doc(hidden)]
    pub const fn new(
        names: [&'static str; 6],
        doc: &'static str,
        location: SourceLocation,
    ) -> Self {
        const fn stage(
            names: [&'static str; 6],
            stage: StageKind,
            doc: &'static str,
            location: SourceLocation,
        ) -> PointDescriptor {
            PointDescriptor::new(names[stage as usize], ModelKind::Stage, doc, location)
                .stage_of(stage)
        }
        Self([
            stage(names, StageKind::BeforeValidation, doc, location),
            stage(names, StageKind::AfterValidation, doc, location),
            stage(names, StageKind::BeforeExecute, doc, location),
            stage(names, StageKind::AfterExecute, doc, location),
            // Failures here are reported and never hide the flow's first error.
            stage(names, StageKind::OnError, doc, location).on_failure(FailurePolicy::Open).fixed(),
            stage(names, StageKind::Finally, doc, location).on_failure(FailurePolicy::Open).fixed(),
        ])
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn timeout(self, limit: Duration) -> Self {
        let Self([first, second, third, fourth, fifth, last]) = self;
        Self([
            first.timeout(limit),
            second.timeout(limit),
            third.timeout(limit),
            fourth.timeout(limit),
            fifth.timeout(limit),
            last.timeout(limit),
        ])
    }

    pub(crate) fn all(&self) -> &[PointDescriptor; 6] {
        &self.0
    }

    pub(crate) const fn get(&self, stage: StageKind) -> &PointDescriptor {
        &self.0[stage as usize]
    }
}

macro_rules! stages {
    ($($(#[$doc:meta])* $stage:ident,)*) => {$(
        $(#[$doc])*
        pub struct $stage<F>(PhantomData<fn() -> F>);

        impl<F: FlowPoint> HookPoint for $stage<F> {
            type Payload = FlowContext<F>;
            type Result = ();
            type Model = Stage;
            const NAME: &'static str = F::STAGE_NAMES[StageKind::$stage as usize];

            #[inline]
            fn descriptor() -> &'static PointDescriptor {
                F::stages().get(StageKind::$stage)
            }
        }

        impl<F> fmt::Debug for $stage<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($stage))
            }
        }
    )*};
}

stages! {
    /// The stage before the input of `F` is validated.
    BeforeValidation,
    /// The stage after the input of `F` was found valid.
    AfterValidation,
    /// The stage before the operation of `F`.
    BeforeExecute,
    /// The stage after the operation of `F`, or after an answer in its place.
    AfterExecute,
    /// The stage in which handlers see why `F` failed.
    OnError,
    /// The last stage of `F`, run exactly once however the flow ends.
    Finally,
}

impl HookRegistry {
    /// Registers an async function or closure at a stage of a flow, such as
    /// `BeforeExecute<CallTool>`.
    ///
    /// For a synchronous one, or options, see [`on`].
    #[track_caller]
    pub fn register_stage<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Stage, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Stage, P, As = Stage>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_stage`](Self::register_stage), called on `state` first.
    #[track_caller]
    pub fn register_stage_with<P, S>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Stage, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Stage, P, As = Stage>,
    {
        self.register_async_with(on(), state, handler)
    }
}
