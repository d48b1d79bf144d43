//! Modifying: one after another; per field the first value wins.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Begun, Firing};
use crate::dispatch::sequential::Sequential;
use crate::dispatch::watch::Watch;
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::invoke::{AsyncHandler, AsyncHandlerWith};
use crate::models::{Composes, FiresAs, Lent, Model, Next, RegistersAs, Returns};
use crate::observe::report::{Contribution, FireReport};
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::entry::Entry;
use crate::registry::handle::Handle;

/// The model of points that amend what the host does next.
///
/// Every handler gets the same unmodified payload and returns a result whose
/// fields are optional. For each field the first handler that sets it wins;
/// later ones fill only what is still empty.
#[derive(Clone, Copy, Debug)]
pub struct Modifying;

impl Model for Modifying {
    const KIND: ModelKind = ModelKind::Modifying;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Option<P::Result>;
    type Given<'p, P: HookPoint> = &'p P::Payload;
    type Course<'p, P: HookPoint> = Merging<'p, P>;
}

/// A result that several handlers fill together.
///
/// Derive it for a named result type; `hook_points!` writes it for results
/// declared in place.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be merged, so it cannot be the result of a modifying point",
    label = "not a merged result",
    note = "put `#[derive(Default, Merge)]` on it; each of its fields is an `Option`"
)]
pub trait Merge: Default + Send + Sync + 'static {
    /// The names of the fields, in order.
    const FIELDS: &'static [&'static str];

    /// Fills the fields that are still empty from `later`; says which.
    ///
    /// A panic in here is taken for one of a value that came too late and was
    /// dropped: it goes to the log, and the handler has not failed.
    fn merge(&mut self, later: Self) -> FieldSet;

    /// The fields that are set.
    fn filled(&self) -> FieldSet;
}

/// A field of a merged result.
#[diagnostic::on_unimplemented(
    message = "each field of a merged result is an `Option` of the standard library",
    label = "this is `{Self}`",
    note = "where another type is called `Option`, write `std::option::Option<…>`"
)]
pub trait MergedField {
    /// Whether a handler has set it.
    fn is_filled(&self) -> bool;
}

impl<T> MergedField for Option<T> {
    #[inline]
    fn is_filled(&self) -> bool {
        self.is_some()
    }
}

/// A function, so that a field of another type is told from the outside.
#[inline]
pub fn is_filled<F: MergedField>(field: &F) -> bool {
    field.is_filled()
}

/// Some of the fields of a [`Merge`] type, by index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FieldSet(u64);

impl FieldSet {
    /// None of them.
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds the field of that index, below 64.
    pub const fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// Whether the field of that index is in it.
    pub const fn contains(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Whether no field is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are not in `other`.
    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The names of the fields in it.
    pub fn names<R: Merge>(self) -> Vec<&'static str> {
        let named = R::FIELDS.iter().enumerate();
        named.filter(|(index, _)| self.contains(*index)).map(|(_, name)| *name).collect()
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries((0..64).filter(|&index| self.contains(index))).finish()
    }
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
        self.register_one(on::<P>().finish(handler.into_async()))
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
        self.register_one(on::<P>().finish(handler.into_async_with(Arc::new(state))))
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
        Firing::<P, Modifying, Sequential<'f, P>>::new(self, payload)
    }

    /// As [`fire_modifying`](Self::fire_modifying); the payload is made only
    /// if somebody listens.
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
            self.fire_modifying::<P>(&payload()).await
        } else {
            Ok(P::Result::default())
        }
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
        if let Err(error) = self.listening::<P>() {
            return (Err(error), FireReport::of_nobody(P::descriptor()));
        }
        let watch = Watch::reporting::<P>(self);
        let fire = Fire::of::<P>(self, Some(&watch));
        let merging = Modifying::begin(payload);
        let outcome = Begun::<P, Modifying, Sequential<'_, P>>::new(fire, merging).await;
        (outcome, watch.into_report())
    }
}

/// What has been merged so far.
#[derive(Debug)]
pub struct Merging<'p, P: HookPoint> {
    payload: &'p P::Payload,
    merged: P::Result,
    /// Whether a result is being merged.
    under_way: bool,
}

impl<P: HookPoint<Result: Merge>> Composes<P> for Modifying {
    type Outcome = P::Result;

    #[inline]
    fn unheard(_: &P::Payload) -> P::Result {
        P::Result::default()
    }

    #[inline]
    fn begin<'p>(payload: &'p P::Payload) -> Merging<'p, P>
    where
        'p: 'p,
    {
        Merging { payload, merged: P::Result::default(), under_way: false }
    }

    #[inline]
    fn lend<'a>(merging: &'a mut Merging<'_, P>) -> Lent<'a, &'a P::Payload> {
        Lent { input: merging.payload, merged: Some(&merging.merged) }
    }

    // Always inlined: where the handler is known, so is what its result leaves
    // empty, and that costs nothing to merge.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn accept(
        merging: &mut Merging<'_, P>,
        _: &Entry,
        output: Option<P::Result>,
        told: Option<&mut Contribution>,
    ) -> Next {
        let Some(result) = output else { return Next::On };
        // What it sets is told before: dropping the values that come too late
        // may panic.
        if let Some(told) = told {
            let set = result.filled().without(merging.merged.filled());
            *told = Contribution::Fields(set.names::<P::Result>());
        }
        merging.under_way = true;
        merging.merged.merge(result);
        merging.under_way = false;
        Next::On
    }

    /// In a derived `merge` the only code of the user drops values that come too
    /// late. By then the others are merged, so its panic is no failure of the handler,
    /// which would have added nothing.
    fn spares(merging: &mut Merging<'_, P>) -> bool {
        std::mem::take(&mut merging.under_way)
    }

    fn word(merging: &Merging<'_, P>) -> &'static str {
        if merging.merged.filled().is_empty() { "unchanged" } else { "amended" }
    }

    #[inline]
    fn finish(merging: &mut Merging<'_, P>) -> P::Result {
        std::mem::take(&mut merging.merged)
    }
}
