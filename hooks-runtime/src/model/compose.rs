//! What the engine asks of a model: what a handler is given, where its answer
//! goes, and what a fire comes to.

use std::any::Any;

use crate::engine::raw::{Call, CallStep, Composition, FireFuture};
use crate::error::FireError;
use crate::model::{FieldSet, Model};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint};

/// What a drop of the answer of a handler in shadow is called in the log.
pub(crate) const IN_SHADOW: &str = "what a handler in shadow returned";

/// Only models of this crate are models: the engine relies on what they do.
pub trait Sealed {}

/// What a handler of `P` is given.
pub(crate) type Input<'a, P> = <<P as HookPoint>::Model as Model>::Input<'a, P>;

/// What a handler of `P` answers.
pub(crate) type Answer<P> = <<P as HookPoint>::Model as Model>::Output<P>;

/// What a handler of `P` comes to, once its own return type is converted.
pub(crate) type Output<P> = Result<Answer<P>, crate::error::BoxError>;

/// What a fire of `P` composes the answers into.
pub(crate) type Accumulated<P> = <<P as HookPoint>::Model as Model>::Accumulator<P>;

/// What a fire of `P` as a `V` comes to.
pub(crate) type FireResult<V, P> = <<V as Model>::Accumulator<P> as Accumulator>::Outcome;

/// What a model does before and after each call of a handler of `P`.
pub trait Compose<P: HookPoint>: Model {
    /// Whether answers are composed into anything.
    const COMPOSES: bool = true;

    /// What the next handler is given.
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> Self::Input<'a, P>;

    /// What its condition is asked about: the payload that it would be given.
    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload;

    /// Composes a handler's answer.
    fn compose(call: &mut Call<'_, '_, P>, answer: Self::Output<P>) -> CallStep;

    /// Takes the answer of a handler in shadow: says what it would contribute, and
    /// composes nothing. It is dropped with care: a panic there is no failure of the
    /// handler, and must not hide what it decided. A model whose answers are nothing has nothing to say.
    fn decided(call: &mut Call<'_, '_, P>, answer: Self::Output<P>) -> CallStep {
        let _ = (call, answer);
        CallStep::Continue
    }

    /// Whether an answer counts although its future panicked while it was
    /// dropped, which is a failure under that policy otherwise.
    #[inline]
    fn stands(answer: &Self::Output<P>, policy: FailurePolicy) -> bool {
        let _ = (answer, policy);
        false
    }
}

/// How a fire of `P` begins.
pub trait Begin<P: HookPoint>: Compose<P, Accumulator<P>: Accumulator> {
    /// A fire that is given that.
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        given: Self::Given<'f, P>,
    ) -> FireFuture<'f, P, Self::Accumulator<P>>;

    /// What a fire is given of a payload that was made for it.
    fn given(payload: &mut Option<P::Payload>) -> Self::Given<'_, P>;
}

/// What a fire composes the answers of its handlers into.
pub trait Accumulator: Send + Sized {
    /// What the fire comes to.
    type Outcome;
    /// Whether handlers run at the same time.
    const CONCURRENT: bool = false;
    /// The names of the fields that answers set.
    const FIELDS: &'static [&'static str] = &[];
    /// The functions below, for the engine.
    const COMPOSITION: &'static Composition = &Composition::of::<Self>();

    /// The fire has handlers to call. Where this fails, it calls none.
    #[inline]
    fn begin(&mut self) -> Result<(), FireError> {
        Ok(())
    }

    /// What the fire comes to where there are no handlers.
    #[inline]
    fn empty(self) -> Result<Self::Outcome, FireError> {
        Ok(self.finish())
    }

    /// Whether the fire comes to the same as one without handlers: asked before
    /// this is moved, which takes longer than the rest where it is large.
    #[inline]
    fn is_empty(&self) -> bool {
        false
    }

    /// What the fire came to, at its end.
    fn finish(self) -> Self::Outcome;

    /// What the fire came to so far, in one word.
    fn label(&self) -> &'static str;

    /// The fields that are set.
    fn filled(&self) -> FieldSet {
        FieldSet::new()
    }

    /// What handlers may read of the answers before theirs.
    #[inline]
    fn merged(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}
