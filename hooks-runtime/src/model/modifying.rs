//! Modifying: one after another; per field the first value wins.

use std::any::Any;
use std::future::Future;

use crate::engine::containment::contained;
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, DefaultPanicked, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{FieldSet, FiresAs, Merge, Model, RegistersAs, Returns};
use crate::observe::report::{Contribution, FireReport};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

/// The model of points that amend what the host does next.
///
/// Every handler gets the same unmodified payload and returns a result whose
/// fields are optional. For each field the first handler that sets it wins;
/// later ones fill only what is still empty.
#[derive(Clone, Copy, Debug)]
pub struct Modifying;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// One after another; per field the first value wins.
    pub const Modifying: Self = Self::new("Modifying", "modifying", FailurePolicy::Open);
}

impl Sealed for Modifying {}

impl Model for Modifying {
    const KIND: ModelKind = ModelKind::Modifying;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Option<P::Result>;
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Merged<P::Result>;
}

/// What a handler of a modifying point with the result `R` may return.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `{R}`, or an `Option` or a `Result` of it",
    note = "return `{R}`, or `Option<{R}>` where it may have no opinion, or a `Result` of either; \
            the error of a `Result` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsAmendment<P, R> {
    /// The uniform form.
    fn into_amendment(self) -> Result<Option<R>, BoxError>;
}

// Recommended, because a result that cannot be merged is reported as that.
impl<P, R: Merge> ReturnsAmendment<P, R> for R {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        Ok(Some(self))
    }
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsAmendment<P, R> for Option<R> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsAmendment<P, R> for Result<R, E> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        self.map(Some).map_err(Into::into)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsAmendment<P, R> for Result<Option<R>, E> {
    #[inline]
    fn into_amendment(self) -> Result<Option<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsAmendment<P, P::Result>> Returns<Modifying, P> for T {
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        self.into_amendment()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a modifying point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    #[track_caller]
    pub fn register_modifying<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Modifying, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Modifying, P, As = Modifying>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_modifying`](Self::register_modifying), called on `state`
    /// first.
    #[track_caller]
    pub fn register_modifying_with<P, S>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Modifying, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Modifying, P, As = Modifying>,
    {
        self.register_async_with(on(), state, handler)
    }
}

impl ScopedHooks {
    /// Asks every handler of `P` in order, and merges what they return.
    #[inline]
    pub fn fire_modifying<'f, P>(
        &'f self,
        payload: &'f P::Payload,
    ) -> impl Future<Output = Result<P::Result, FireError>> + Send + use<'f, P>
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P, Composed = P::Result>,
        <P::Model as FiresAs<Modifying, P>>::Composed: Merge,
    {
        self.fire::<Modifying, P>(payload)
    }

    /// As [`fire_modifying`](Self::fire_modifying); the payload is made only if
    /// there are handlers.
    #[inline]
    pub async fn fire_modifying_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Result<P::Result, FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P, Composed = P::Result>,
        <P::Model as FiresAs<Modifying, P>>::Composed: Merge,
    {
        if self.needs_payload::<P>()? {
            return self.fire_made::<Modifying, P>(payload()).await;
        }
        made_default()
    }

    /// As [`fire_modifying`](Self::fire_modifying), with a report.
    pub async fn fire_modifying_reported<P>(
        &self,
        payload: &P::Payload,
    ) -> (Result<P::Result, FireError>, FireReport)
    where
        P: HookPoint,
        P::Model: FiresAs<Modifying, P, Composed = P::Result>,
        <P::Model as FiresAs<Modifying, P>>::Composed: Merge,
    {
        self.fire_reported::<Modifying, P>(payload).await
    }
}

/// A result with which nothing is merged yet. How it is made is the host's code.
#[inline]
fn made_default<R: Merge>() -> Result<R, FireError> {
    contained(R::default).map_err(|message| {
        let result = std::any::type_name::<R>();
        FireError::DefaultPanicked(Box::new(DefaultPanicked { result, message }))
    })
}

/// What has been merged so far; there once there are handlers.
#[derive(Debug)]
pub struct Merged<R>(Option<Merging<R>>);

#[derive(Debug)]
struct Merging<R> {
    result: R,
    /// [`Merge::drop_fields`], for the drop of an accumulator, which knows of no
    /// merge.
    drop_fields: fn(&mut R),
}

impl<R: Merge> Merged<R> {
    // Always inlined: where the handler is known, so is what its result leaves
    // empty, and that costs nothing to merge.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn merge(&mut self, result: R) -> FieldSet {
        match &mut self.0 {
            Some(merging) => merging.result.merge(result),
            None => FieldSet::new(),
        }
    }
}

impl<R> Drop for Merged<R> {
    fn drop(&mut self) {
        if let Some(Merging { result, drop_fields }) = &mut self.0 {
            drop_fields(result);
        }
    }
}

impl<R: Merge> Accumulator for Merged<R> {
    type Outcome = R;
    const FIELDS: &'static [&'static str] = R::FIELDS;

    #[inline]
    fn begin(&mut self) -> Result<(), FireError> {
        let before =
            self.0.replace(Merging { result: made_default()?, drop_fields: R::drop_fields });
        // There was nothing in it, which the compiler does not see.
        std::mem::forget(before);
        Ok(())
    }

    #[inline]
    fn empty(self) -> Result<R, FireError> {
        // There is nothing in it, which the compiler does not see.
        std::mem::forget(self);
        made_default()
    }

    #[inline]
    fn finish(mut self) -> R {
        self.0.take().expect("it is there since the fire began").result
    }

    fn label(&self) -> &'static str {
        if self.filled().is_empty() { "unchanged" } else { "amended" }
    }

    fn filled(&self) -> FieldSet {
        self.0.as_ref().map_or(FieldSet::new(), |merging| merging.result.filled())
    }

    #[inline]
    fn merged(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.0.as_ref().map(|merging| &merging.result as _)
    }
}

impl<P: HookPoint<Model = Self, Result: Merge>> Compose<P> for Modifying {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, result: Option<P::Result>) -> CallStep {
        let Some(result) = result else { return CallStep::Continue };
        let is_recording = call.is_recording();
        let before = if is_recording { call.accumulator().filled() } else { FieldSet::new() };
        // In a derived `merge` the only code of the user that may unwind is the drop
        // of the result itself. By then all is merged, so that is no failure of the
        // handler, which would have added nothing; nor is it in one that is written
        // by hand.
        call.merging(before);
        let set = call.accumulator().merge(result);
        call.merged();
        if is_recording {
            call.contribute(Contribution::Fields(set.names::<P::Result>()));
        }
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self, Result: Merge>> Begin<P> for Modifying {
    #[inline]
    fn begin<'f>(
        hooks: &'f ScopedHooks,
        payload: &'f P::Payload,
    ) -> FireFuture<'f, P, Merged<P::Result>> {
        FireFuture::of(hooks, payload, Merged(None))
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}
