//! Flow: stages around an operation. The stages are points of their own, see
//! [`crate::flow`].

use std::convert::Infallible;

use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::BoxError;
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{Model, Returns};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};

/// The model of points that wrap an operation of the host in six stages.
///
/// No handler registers at the flow itself: handlers belong to its stages, and the
/// host runs it: `hooks.flow::<F>().run(input, operation)`.
///
/// ```
/// # use hooks_runtime::{HookPoint, hook_points};
/// # use hooks_runtime::flow::FlowPoint;
/// hook_points! {
///     /// One build, stage by stage.
///     pub flow Build(String) -> u32;
/// }
///
/// assert_eq!(Build::NAME, "build");
/// assert_eq!(Build::STAGE_NAMES[2], "build/beforeExecute");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Flow;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// Stages around an operation of the host.
    pub const Flow: Self = Self::new("Flow", "flow", FailurePolicy::Closed);
    /// One stage of a flow.
    pub const Stage: Self = Self::new("Stage", "stage", FailurePolicy::Closed);
}

impl Sealed for Flow {}

impl Model for Flow {
    const KIND: ModelKind = ModelKind::Flow;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = Infallible;
    type Accumulator<P: HookPoint> = Infallible;
}

/// Never called: a flow has no handlers of its own.
impl<P: HookPoint<Model = Self>> Compose<P> for Flow {
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        match *call.accumulator() {}
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    fn compose(call: &mut Call<'_, '_, P>, (): ()) -> CallStep {
        match *call.accumulator() {}
    }
}

/// Never called: a run fires the stages.
impl<P: HookPoint<Model = Self>> Begin<P> for Flow {
    fn begin(_: &ScopedHooks, never: Infallible) -> FireFuture<'_, P, Infallible> {
        match never {}
    }

    fn given(_: &mut Option<P::Payload>) -> Infallible {
        unreachable!("a flow is run, not fired")
    }
}

impl Accumulator for Infallible {
    type Outcome = Self;

    fn finish(self) -> Self {
        self
    }

    fn label(&self) -> &'static str {
        match *self {}
    }
}

/// What a handler of a flow may return: a flow has none.
///
/// The example of [`FlowPoint`](crate::flow::FlowPoint) has a handler at a stage, where they belong.
#[diagnostic::on_unimplemented(
    message = "`{P}` is a flow, which has no handlers of its own",
    label = "a handler belongs to one of its stages",
    note = "name the stage: `BeforeExecute<{P}>`, `AfterExecute<{P}>` or another, with the \
            parameter `flow: &mut FlowContext<{P}>`"
)]
pub trait ReturnsFromFlow<P> {
    /// The uniform form.
    fn into_nothing(self) -> Result<(), BoxError>;
}

impl<P: HookPoint, T: ReturnsFromFlow<P>> Returns<Flow, P> for T {
    fn into_output(self) -> Result<(), BoxError> {
        self.into_nothing()
    }
}
