//! The models: how the handlers of a point run and compose.
//!
//! Each is one file of the same shape: the marker type, what its handlers may
//! return, the way to register, the ways to fire and what a fire carries along.
//! The stages of a flow, which are what is fired of it, are in `crate::flow`.

mod claiming;
mod flow;
mod gating;
mod guard;
mod modifying;
mod void;

pub use claiming::{Claim, Claiming, ReturnsClaim};
pub use flow::{Flow, ReturnsFromFlow};
pub use gating::{Gate, Gating, Rejection, ReturnsVerdict, Verdict};
#[cfg(feature = "json")]
pub(crate) use guard::guard_that_replaces;
pub use guard::{Guard, NoReplacement, ReturnsJudgement};
pub use modifying::{FieldSet, Merge, Modifying, ReturnsAmendment, is_filled};
pub use void::{ReturnsNothing, Void};

use std::any::Any;

use crate::error::BoxError;
use crate::observe::report::{Contribution, SkipReason};
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::entry::Entry;

/// How the handlers of a point run and compose.
///
/// Sealed in effect: a point's model is one of the types in this crate.
pub trait Model: Send + Sync + 'static {
    /// The model as data.
    const KIND: ModelKind;
    /// What a handler is given.
    type Input<'a, P: HookPoint>: Send;
    /// What a handler's answer comes to.
    type Output<P: HookPoint>: Send + 'static;
    /// What a fire is given.
    #[doc(hidden)]
    type Given<'p, P: HookPoint>: Send;
    /// What a fire carries from one handler to the next.
    #[doc(hidden)]
    type Course<'p, P: HookPoint>: Send;
}

/// What a model does before and after each handler of `P`.
#[doc(hidden)]
pub trait Composes<P: HookPoint>: Model {
    /// What a fire comes to.
    type Outcome;

    /// What a fire comes to that nobody listens to.
    fn unheard(given: Self::Given<'_, P>) -> Self::Outcome;

    /// The course of a fire, at its beginning.
    ///
    /// The bound says nothing, but the compiler then takes the lifetime of this
    /// function and of those that implement it for the same kind.
    fn begin<'p>(given: Self::Given<'p, P>) -> Self::Course<'p, P>
    where
        'p: 'p;

    /// What the next handler is given, and what it may read of the results.
    fn lend<'a>(course: &'a mut Self::Course<'_, P>) -> Lent<'a, Self::Input<'a, P>>;

    /// The answer, where handlers have none to give: then no answer needs to be
    /// looked at before it is taken.
    #[inline]
    fn silent() -> Option<Self::Output<P>> {
        None
    }

    /// Whether an answer counts although its future panicked while it was
    /// dropped, which is a failure under that policy otherwise.
    #[inline]
    fn stands(output: &Self::Output<P>, policy: FailurePolicy) -> bool {
        let _ = (output, policy);
        false
    }

    /// Takes a handler's answer, and tells what it came to if somebody wants
    /// to know.
    fn accept(
        course: &mut Self::Course<'_, P>,
        entry: &Entry,
        output: Self::Output<P>,
        told: Option<&mut Contribution>,
    ) -> Next;

    /// Whether a panic while an answer was taken is no failure of the handler.
    fn spares(course: &mut Self::Course<'_, P>) -> bool {
        let _ = course;
        false
    }

    /// What the fire came to, in one word.
    fn word(course: &Self::Course<'_, P>) -> &'static str;

    /// What the fire came to, at its end.
    fn finish(course: &mut Self::Course<'_, P>) -> Self::Outcome;
}

/// What a handler is given, and what it may read of the results.
#[doc(hidden)]
#[derive(Debug)]
pub struct Lent<'a, I> {
    pub(crate) input: I,
    pub(crate) merged: Option<&'a (dyn Any + Send + Sync)>,
}

/// What a handler's answer means for the fire.
#[doc(hidden)]
#[derive(Debug)]
pub enum Next {
    /// The next handler's turn.
    On,
    /// The fire ends here; those after are not called, for this reason.
    End(SkipReason),
    /// The answer is no answer but a failure of the handler.
    Failed(BoxError),
}

/// Says that the point of a `register_*` call has the model of its verb.
#[diagnostic::on_unimplemented(
    message = "`{P}` is a `{Self}` hook point, so it cannot be registered as `{Verb}`",
    label = "`{P}` is declared `{Self}`",
    note = "the declaration of a point picks its model: use `register_modifying` for `Modifying` \
            points, `register_void` for `Void`, `register_claiming` for `Claiming`, \
            `register_gating` or, as a guard, `register_guard` for `Gating`, `register_stage` for \
            the stages of a `Flow`"
)]
pub trait RegistersAs<Verb: Model, P: HookPoint>: Composes<P> {
    /// The verb. A handler is judged as this, and so not at all where the verb
    /// itself is wrong: one mistake, one error.
    #[doc(hidden)]
    type As: Model;
    /// What the point gives is what the handler takes.
    #[doc(hidden)]
    fn given(input: Self::Input<'_, P>) -> Verb::Input<'_, P>;
    /// What the handler returns is what the point composes.
    #[doc(hidden)]
    fn returned(output: Verb::Output<P>) -> Self::Output<P>;
}

impl<M: Composes<P>, P: HookPoint> RegistersAs<M, P> for M {
    type As = M;

    #[inline]
    fn given(input: M::Input<'_, P>) -> M::Input<'_, P> {
        input
    }

    #[inline]
    fn returned(output: M::Output<P>) -> M::Output<P> {
        output
    }
}

/// Says that the point of a `fire_*` call has the model of its verb.
#[diagnostic::on_unimplemented(
    message = "`{P}` is a `{Self}` hook point, so it cannot be fired as `{Verb}`",
    label = "`{P}` is declared `{Self}`",
    note = "the declaration of a point picks its model: use `fire_modifying` for `Modifying` \
            points, `fire_void` for `Void`, `fire_claiming` for `Claiming`, `fire_gating` for \
            `Gating`, `run_flow` for a `Flow`, which fires its stages"
)]
pub trait FiresAs<Verb: Model, P: HookPoint>: Composes<P> {
    /// The point's result, which is not judged where the verb is wrong.
    #[doc(hidden)]
    type Composed;
    /// The course of a fire of the verb is the course of a fire of the point.
    #[doc(hidden)]
    fn course<'a, 'p>(course: &'a mut Verb::Course<'p, P>) -> &'a mut Self::Course<'p, P>;
}

impl<M: Composes<P>, P: HookPoint> FiresAs<M, P> for M {
    type Composed = P::Result;

    #[inline]
    fn course<'a, 'p>(course: &'a mut M::Course<'p, P>) -> &'a mut M::Course<'p, P> {
        course
    }
}

/// What a handler of a point with model `M` may return. Each model says it with
/// a trait of its own, so that a wrong return type is told what is right there.
pub trait Returns<M: Model, P: HookPoint> {
    /// The uniform form.
    fn into_output(self) -> Result<M::Output<P>, BoxError>;
}
