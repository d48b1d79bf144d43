//! The models: how the handlers of a point run and compose.
//!
//! Each is one file of the same shape: the marker type, what its handlers may
//! return, the ways to register and to fire, and the accumulator of a fire. What
//! they share is in `compose.rs`, `fire.rs` and `register.rs`. The stages of a
//! flow, which are what is fired of it, are in [`crate::flow`].

// What a fire returns is written out in the signature of its verb, where users read it.
#![allow(clippy::type_complexity)]

mod claiming;
pub(crate) mod compose;
mod fire;
mod flow;
mod gating;
mod guard;
mod merge;
mod modifying;
mod register;
mod rejection;
mod void;
#[cfg(sixth_model)]
mod voting;

pub use crate::flow::Stage;
pub use claiming::{Claim, Claiming, ReturnsClaim};
pub use flow::{Flow, ReturnsFromFlow};
pub use gating::{Gate, Gating, ReturnsVerdict, Verdict};
pub use guard::{Guard, Judgement, NoReplacement, ReturnsJudgement};
#[cfg(feature = "json")]
pub(crate) use merge::DroppedByField;
pub use merge::{FieldSet, Merge};
#[doc(hidden)]
pub use merge::{Merging, drop_field, is_filled, merging};
pub use modifying::{Modifying, ReturnsAmendment};
#[doc(hidden)]
pub use rejection::displayed;
pub use rejection::{Reason, Reasoned, Rejection};
pub use void::{ReturnsNothing, Void};
#[cfg(sixth_model)]
pub use voting::{ReturnsVote, Voting};

use crate::engine::raw::FireFuture;
use crate::error::BoxError;
use crate::model::compose::{Begin, Compose, Sealed};
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, ModelKind};

/// How the handlers of a point run and compose.
///
/// Sealed: a point's model is one of the types in this crate.
///
/// Code that is generic over the points of one model names it:
///
/// ```
/// # use hooks_runtime::{FireError, HookPoint, HookRegistry, hook_points};
/// # use hooks_runtime::model::Void;
/// # hook_points! { pub void Saved { page: u32 } }
/// async fn notify<P>(hooks: &HookRegistry, payload: P::Payload) -> Result<(), FireError>
/// where
///     P: HookPoint<Model = Void>,
/// {
///     hooks.fire_void::<P>(&payload).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// notify::<Saved>(&HookRegistry::new(), SavedPayload { page: 7 }).await?;
/// # Ok(()) }
/// ```
pub trait Model: Sealed + Send + Sync + 'static {
    /// The model as data.
    const KIND: ModelKind;
    /// What a handler is given.
    type Input<'a, P: HookPoint>: Send;
    /// What a handler's answer comes to.
    type Output<P: HookPoint>: Send + 'static;
    /// Why a guard may reject. Text where the model has no guards, so that a guard
    /// there is one mistake and not two.
    #[doc(hidden)]
    type Reason<P: HookPoint>: Send + Sync + 'static;
    /// What a fire is given.
    #[doc(hidden)]
    type Given<'f, P: HookPoint>: Send;
    /// What a fire composes the answers into.
    #[doc(hidden)]
    type Accumulator<P: HookPoint>: Send;
}

/// Says that the point of a `register_*` call has the model of its verb.
///
/// The example of [`register_guard`](crate::HookRegistry::register_guard) has the two kinds of handlers of a gating point.
#[diagnostic::on_unimplemented(
    message = "`{P}` is a `{Self}` hook point, so it cannot be registered as `{Verb}`",
    label = "`{P}` is declared `{Self}`",
    note = "the declaration of a point picks its model: use `register_modifying` for `Modifying` \
            points, `register_void` for `Void`, `register_claiming` for `Claiming`, \
            `register_gating` or, as a guard, `register_guard` for `Gating`, `register_stage` for \
            the stages of a `Flow`"
)]
pub trait RegistersAs<Verb: Model, P: HookPoint>: Compose<P> {
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

impl<M: Compose<P>, P: HookPoint<Model = M>> RegistersAs<M, P> for M {
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
///
/// Code that is generic over points names their model instead, as the example of [`Model`]
/// does.
#[diagnostic::on_unimplemented(
    message = "`{P}` is a `{Self}` hook point, so it cannot be fired as `{Verb}`",
    label = "`{P}` is declared `{Self}`",
    note = "the declaration of a point picks its model: use `fire_modifying` for `Modifying` \
            points, `fire_void` for `Void`, `fire_claiming` for `Claiming`, `fire_gating` for \
            `Gating`; a `Flow` is run, which fires its stages: `hooks.flow::<F>().run(…)`, or \
            `hooks.run_flow::<F, _>(…)`"
)]
pub trait FiresAs<Verb: Model, P: HookPoint>: Model {
    /// `T` itself: what the verb takes, or what it returns. Where the verb is wrong, this
    /// is of no known type, and so nothing is said of the argument, which is written for
    /// the right verb, or of what is done with the fire: one mistake, one error.
    #[doc(hidden)]
    type Known<T>;
    /// `taken` itself.
    #[doc(hidden)]
    fn taken<T>(taken: Self::Known<T>) -> T;
    /// `fired` itself.
    #[doc(hidden)]
    fn fired<T>(fired: T) -> Self::Known<T>;
    /// A fire that is given that.
    #[doc(hidden)]
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        given: Verb::Given<'f, P>,
    ) -> FireFuture<'f, P, Verb::Accumulator<P>>;
    /// What a fire is given of a payload that was made for it.
    #[doc(hidden)]
    fn given(payload: &mut Option<P::Payload>) -> Verb::Given<'_, P>;
}

impl<M: Begin<P>, P: HookPoint<Model = M>> FiresAs<M, P> for M {
    type Known<T> = T;

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn taken<T>(taken: T) -> T {
        taken
    }

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn fired<T>(fired: T) -> T {
        fired
    }

    #[inline]
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        given: M::Given<'f, P>,
    ) -> FireFuture<'f, P, M::Accumulator<P>> {
        <M as Begin<P>>::begin(hooks, given)
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> M::Given<'_, P> {
        <M as Begin<P>>::given(payload)
    }
}

/// `T`, which a verb of the model `Verb` takes for a point `P` of that model: the payload,
/// or a reference to it.
///
/// The example of [`Model`] gives one.
pub type ToFire<P, Verb, T> = <<P as HookPoint>::Model as FiresAs<Verb, P>>::Known<T>;

/// `T`, which a verb of the model `Verb` returns for a point `P` of that model.
///
/// The example of [`Model`] awaits one.
pub type Fired<P, Verb, T> = <<P as HookPoint>::Model as FiresAs<Verb, P>>::Known<T>;

/// What a handler of a point with model `M` may return. Each model says it with
/// a trait of its own, so that the error for a wrong type says what is right.
///
/// The example of [`Verdict`] has one of its types.
pub trait Returns<M: Model, P: HookPoint> {
    /// The uniform form.
    fn into_output(self) -> Result<M::Output<P>, BoxError>;
}
