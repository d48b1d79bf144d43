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
///
/// ```
/// # use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, RegisterError};
/// # use hooks_runtime::flow::FlowPoint;
/// // A handler for whichever flow: it counts the runs.
/// fn count<F: FlowPoint>(hooks: &HookRegistry) -> Result<(), RegisterError> {
///     hooks.register_stage::<BeforeExecute<F>>(async |flow: &mut FlowContext<F>| {
///         println!("a run of {}", flow.flow());
///     })?;
///     Ok(())
/// }
/// # hooks_runtime::hook_points! { pub flow Cook(String) -> u32; }
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::new();
/// count::<Cook>(&hooks)?;
/// assert_eq!(hooks.handlers_of_flow::<Cook>()[0].point, "cook/beforeExecute");
/// # Ok(()) }
/// ```
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

/// Says that the point of a run has the model [`Flow`].
///
/// The example of [`FlowRun`](crate::flow::FlowRun) runs one.
#[diagnostic::on_unimplemented(
    message = "`{F}` is a `{Self}` hook point, so it cannot be run as a `Flow`",
    label = "`{F}` is declared `{Self}`",
    note = "a point of another model is fired: use `fire_modifying` for `Modifying` points, \
            `fire_void` for `Void`, `fire_claiming` for `Claiming`, `fire_gating` for `Gating`"
)]
pub trait RunsAs<F: HookPoint> {
    /// `F` itself. Where it is no flow, this is not known, and so nothing is said of
    /// the input, of the operation or of what is done with the run: one mistake, one
    /// error.
    #[doc(hidden)]
    type Flow: FlowPoint;
    /// `T` itself: what `run_flow` returns.
    #[doc(hidden)]
    type Run<T>;
    /// `run` itself.
    #[doc(hidden)]
    fn run<T>(run: T) -> Self::Run<T>;
}

/// The flow `F`, in a run of it.
///
/// The example of [`FlowRun`](crate::flow::FlowRun) has one.
pub type RunOf<F> = <<F as HookPoint>::Model as RunsAs<F>>::Flow;

#[diagnostic::do_not_recommend]
impl<F: FlowPoint> RunsAs<F> for Flow {
    type Flow = F;
    type Run<T> = T;

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn run<T>(run: T) -> T {
        run
    }
}

/// A stage of a flow.
///
/// ```
/// use hooks_runtime::flow::StageKind;
///
/// assert!(StageKind::BeforeExecute < StageKind::Finally);
/// assert_eq!(StageKind::OnError.name(), "onError");
/// assert_eq!(StageKind::ALL.len(), 6);
/// ```
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
///
/// The example of [`FlowPoint`] registers a handler at one.
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
///
/// The example of [`FlowPoint`] has the name of one.
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
    ///
    /// The example of [`FlowPoint`] uses it.
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
    ///
    /// ```
    /// # use hooks_runtime::{AfterExecute, FlowContext, HookRegistry, hook_points};
    /// # hook_points! { pub flow Convert(f64) -> f64; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let digits = 100.0;
    /// hooks.register_stage_with::<AfterExecute<Convert>, _>(digits, async |digits, flow| {
    ///     if let Some(amount) = flow.output_mut() {
    ///         *amount = (*amount * digits).round() / digits;
    ///     }
    /// })?;
    /// let convert = async |amount| Ok::<_, std::io::Error>(amount / 3.0);
    /// assert_eq!(hooks.flow::<Convert>().run(1.0, convert).await?, 0.33);
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_stage_with<P, S /* write `register_stage_with::<P, _>(…)` */>(
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
