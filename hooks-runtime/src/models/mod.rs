//! The models: how the handlers of a point run and compose.
//!
//! Each is one file of the same shape: the marker type, what its handlers may
//! return, the way to register and the ways to fire.

mod claiming;
mod flow;
mod gating;
mod modifying;
mod void;

pub use claiming::{Claim, Claiming};
pub use flow::Flow;
pub use gating::{Gate, Gating, Guard, NoReplacement, Rejection, Verdict};
pub use modifying::{FieldSet, Merge, Modifying};
pub use void::Void;

use crate::error::BoxError;
use crate::point::{HookPoint, ModelKind};

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
pub trait RegistersAs<Verb: Model, P: HookPoint>: Model {
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

impl<M: Model, P: HookPoint> RegistersAs<M, P> for M {
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
pub trait FiresAs<Verb: Model, P: HookPoint>: Model {
    /// The point's result, which is not judged where the verb is wrong.
    #[doc(hidden)]
    type Composed;
    /// What the fire gives is what the handlers take.
    #[doc(hidden)]
    fn give(input: Verb::Input<'_, P>) -> Self::Input<'_, P>;
    /// What the handlers return is what the fire composes.
    #[doc(hidden)]
    fn take(output: Self::Output<P>) -> Verb::Output<P>;
}

impl<M: Model, P: HookPoint> FiresAs<M, P> for M {
    type Composed = P::Result;

    #[inline]
    fn give(input: M::Input<'_, P>) -> M::Input<'_, P> {
        input
    }

    #[inline]
    fn take(output: M::Output<P>) -> M::Output<P> {
        output
    }
}

/// What a handler of a point with model `M` may return.
#[diagnostic::on_unimplemented(
    message = "a `{M}` handler of `{P}` cannot return `{Self}`",
    label = "not what a `{M}` handler returns",
    note = "a `Void` handler returns `()` or `Result<(), E>`, and so does that of a flow's stage",
    note = "a `Modifying` handler returns the point's result `R`, `Option<R>`, or a `Result` of \
            either",
    note = "a `Claiming` handler returns `Option<R>` or `Result<Option<R>, E>`",
    note = "a `Gating` handler returns `Verdict<Payload>`, a `Guard`, which cannot replace the \
            payload, returns `Verdict`, and either may return a `Result` of it",
    note = "the error `E` of a `Result` is `Into<Box<dyn Error + Send + Sync>>`",
    note = "a `Flow` has no handlers of its own: they belong to its stages, as in \
            `BeforeExecute<TheFlow>`"
)]
pub trait Returns<M: Model, P: HookPoint> {
    /// The uniform form.
    fn into_output(self) -> Result<M::Output<P>, BoxError>;
}
