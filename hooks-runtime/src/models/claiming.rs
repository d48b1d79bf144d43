//! Claiming: one after another until the first claim.

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
use crate::observe::report::{Contribution, FireReport, SkipReason};
use crate::plugin::scope::ScopedHooks;
use crate::point::{HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::entry::Entry;
use crate::registry::handle::Handle;

/// The model of points that ask who takes something over.
///
/// Handlers are asked in order; the first that returns a value has claimed,
/// and those after it are not called. That nobody claims is a normal outcome.
#[derive(Clone, Copy, Debug)]
pub struct Claiming;

impl Model for Claiming {
    const KIND: ModelKind = ModelKind::Claiming;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Option<P::Result>;
    type Given<'p, P: HookPoint> = &'p P::Payload;
    type Course<'p, P: HookPoint> = Asking<'p, P>;
}

/// Whether somebody claimed. Who did is in the report of the fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a claim that is not looked at is lost"]
pub enum Claim<R> {
    /// Somebody did, with this value.
    Claimed(R),
    /// Nobody did.
    Unclaimed,
}

impl<R> Claim<R> {
    /// The claim's value, if there is one.
    pub fn claimed(self) -> Option<R> {
        match self {
            Self::Claimed(value) => Some(value),
            Self::Unclaimed => None,
        }
    }

    /// Whether somebody claimed.
    pub const fn is_claimed(&self) -> bool {
        matches!(self, Self::Claimed(_))
    }
}

/// What a handler of a claiming point with the result `R` may return.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `Option<{R}>`, or a `Result` of it",
    note = "return `Some(value)` to claim and `None` to leave it to others: `Option<{R}>`, or \
            `Result<Option<{R}>, E>`; the error `E` is `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsClaim<P, R> {
    /// The uniform form.
    fn into_claim(self) -> Result<Option<R>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsClaim<P, R> for Option<R> {
    #[inline]
    fn into_claim(self) -> Result<Option<R>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsClaim<P, R> for Result<Option<R>, E> {
    #[inline]
    fn into_claim(self) -> Result<Option<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsClaim<P, P::Result>> Returns<Claiming, P> for T {
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        self.into_claim()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a claiming point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    #[track_caller]
    pub fn register_claiming<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Claiming, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Claiming, P, As = Claiming>,
    {
        self.register_one(on::<P>().finish(handler.into_async()))
    }

    /// As [`register_claiming`](Self::register_claiming), called on `state`
    /// first.
    #[track_caller]
    pub fn register_claiming_with<P, S>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Claiming, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Claiming, P, As = Claiming>,
    {
        self.register_one(on::<P>().finish(handler.into_async_with(Arc::new(state))))
    }
}

impl ScopedHooks {
    /// Asks the handlers of `P` in order until one claims.
    #[inline]
    pub fn fire_claiming<'f, P>(
        &'f self,
        payload: &'f P::Payload,
    ) -> impl Future<Output = Result<Claim<P::Result>, FireError>> + Send + use<'f, P>
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        Firing::<P, Claiming, Sequential<'f, P>>::new(self, payload)
    }

    /// As [`fire_claiming`](Self::fire_claiming); the payload is made only if
    /// somebody listens.
    #[inline]
    pub async fn fire_claiming_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Result<Claim<P::Result>, FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        if self.needs_payload::<P>()? {
            self.fire_claiming::<P>(&payload()).await
        } else {
            Ok(Claim::Unclaimed)
        }
    }

    /// As [`fire_claiming`](Self::fire_claiming), with a report.
    pub async fn fire_claiming_reported<P>(
        &self,
        payload: &P::Payload,
    ) -> (Result<Claim<P::Result>, FireError>, FireReport)
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        if let Err(error) = self.listening::<P>() {
            return (Err(error), FireReport::of_nobody(P::descriptor()));
        }
        let watch = Watch::reporting::<P>(self);
        let fire = Fire::of::<P>(self, Some(&watch));
        let asking = Claiming::begin(payload);
        let outcome = Begun::<P, Claiming, Sequential<'_, P>>::new(fire, asking).await;
        (outcome, watch.into_report())
    }
}

/// Nobody has claimed, until somebody does.
#[derive(Debug)]
pub struct Asking<'p, P: HookPoint> {
    payload: &'p P::Payload,
    claim: Claim<P::Result>,
}

impl<P: HookPoint> Composes<P> for Claiming {
    type Outcome = Claim<P::Result>;

    #[inline]
    fn unheard(_: &P::Payload) -> Claim<P::Result> {
        Claim::Unclaimed
    }

    #[inline]
    fn begin<'p>(payload: &'p P::Payload) -> Asking<'p, P>
    where
        'p: 'p,
    {
        Asking { payload, claim: Claim::Unclaimed }
    }

    #[inline]
    fn lend<'a>(asking: &'a mut Asking<'_, P>) -> Lent<'a, &'a P::Payload> {
        Lent { input: asking.payload, merged: None }
    }

    // Always inlined: a handler that never claims is then done at once.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn accept(
        asking: &mut Asking<'_, P>,
        _: &Entry,
        output: Option<P::Result>,
        told: Option<&mut Contribution>,
    ) -> Next {
        let Some(value) = output else { return Next::On };
        asking.claim = Claim::Claimed(value);
        if let Some(told) = told {
            *told = Contribution::Claimed;
        }
        Next::End(SkipReason::AfterClaim)
    }

    fn word(asking: &Asking<'_, P>) -> &'static str {
        if asking.claim.is_claimed() { "claimed" } else { "unclaimed" }
    }

    #[inline]
    fn finish(asking: &mut Asking<'_, P>) -> Claim<P::Result> {
        std::mem::replace(&mut asking.claim, Claim::Unclaimed)
    }
}
