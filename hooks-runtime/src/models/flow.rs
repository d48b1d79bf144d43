//! Flow: stages around an operation. The stages are points of their own, see
//! [`crate::flow`].

use std::convert::Infallible;

use crate::error::BoxError;
use crate::models::{Composes, Lent, Model, Next, Returns};
use crate::observe::report::Contribution;
use crate::point::{HookPoint, ModelKind};
use crate::registry::entry::Entry;

/// The model of points that wrap an operation of the host in six stages.
///
/// Nobody registers at the flow itself: handlers belong to its stages, and the
/// host runs it with `run_flow`.
#[derive(Clone, Copy, Debug)]
pub struct Flow;

impl Model for Flow {
    const KIND: ModelKind = ModelKind::Flow;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
    type Given<'p, P: HookPoint> = Infallible;
    type Course<'p, P: HookPoint> = Infallible;
}

/// Nothing ever happens here: a flow has no handlers of its own.
impl<P: HookPoint> Composes<P> for Flow {
    type Outcome = Infallible;

    fn unheard(never: Infallible) -> Infallible {
        never
    }

    fn begin<'p>(never: Infallible) -> Infallible
    where
        'p: 'p,
    {
        never
    }

    fn lend(never: &mut Infallible) -> Lent<'_, &P::Payload> {
        match *never {}
    }

    fn accept(never: &mut Infallible, _: &Entry, (): (), _: Option<&mut Contribution>) -> Next {
        match *never {}
    }

    fn word(never: &Infallible) -> &'static str {
        match *never {}
    }

    fn finish(never: &mut Infallible) -> Infallible {
        *never
    }
}

/// What a handler of a flow may return: a flow has none.
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
