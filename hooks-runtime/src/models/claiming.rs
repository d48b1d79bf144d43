//! Claiming: one after another until the first claim.

use std::any::Any;
use std::sync::Arc;

use crate::dispatch::sequential::{self, Next, Sequence};
use crate::entry::Entry;
use crate::error::{BoxError, FireError, RegisterError};
use crate::handle::Handle;
use crate::invoke::{AsyncHandler, AsyncHandlerWith};
use crate::models::{FiresAs, Model, RegistersAs, Returns};
use crate::point::{HookPoint, ModelKind};
use crate::registration::on;
use crate::registry::HookRegistry;
use crate::report::{Contribution, Filter, FireReport};
use crate::scope::ScopedHooks;

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

#[diagnostic::do_not_recommend]
impl<P: HookPoint<Result = R>, R: Send + Sync + 'static> Returns<Claiming, P> for Option<R> {
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E> Returns<Claiming, P> for Result<Option<R>, E>
where
    P: HookPoint<Result = R>,
    R: Send + Sync + 'static,
    E: Into<BoxError>,
{
    #[inline]
    fn into_output(self) -> Result<Option<P::Result>, BoxError> {
        self.map_err(Into::into)
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
    pub async fn fire_claiming<P>(
        &self,
        payload: &P::Payload,
    ) -> Result<Claim<P::Result>, FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Claiming, P>,
    {
        if self.is_quiet::<P>() || !self.listens::<P>()? {
            return Ok(Claim::Unclaimed);
        }
        let mut asking = Asking::<P> { payload, claim: Claim::Unclaimed };
        sequential::fire::<Claiming, P, _>(self, &mut asking).await?;
        Ok(asking.claim)
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
        if self.is_quiet::<P>() || !self.listens::<P>()? {
            return Ok(Claim::Unclaimed);
        }
        let payload = payload();
        let mut asking = Asking::<P> { payload: &payload, claim: Claim::Unclaimed };
        sequential::fire::<Claiming, P, _>(self, &mut asking).await?;
        Ok(asking.claim)
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
        let mut asking = Asking::<P> { payload, claim: Claim::Unclaimed };
        let (outcome, report) =
            sequential::fire_reported::<Claiming, P, _>(self, &mut asking).await;
        (outcome.map(|()| asking.claim), report)
    }
}

/// Nobody has claimed, until somebody does.
struct Asking<'p, P: HookPoint> {
    payload: &'p P::Payload,
    claim: Claim<P::Result>,
}

impl<P: HookPoint> Sequence<Claiming, P> for Asking<'_, P> {
    #[inline]
    fn lend(&mut self) -> (&P::Payload, Option<&(dyn Any + Send + Sync)>) {
        (self.payload, None)
    }

    #[inline]
    fn accept(
        &mut self,
        _: &Entry,
        output: Option<P::Result>,
        told: Option<&mut Contribution>,
    ) -> Next {
        let Some(value) = output else { return Next::On };
        self.claim = Claim::Claimed(value);
        if let Some(told) = told {
            *told = Contribution::Claimed;
        }
        Next::End(Filter::AfterClaim)
    }
}
