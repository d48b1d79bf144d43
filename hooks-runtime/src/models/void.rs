//! Void: all handlers concurrently, all awaited to the end.

use std::future::Future;
use std::sync::Arc;

use crate::dispatch::concurrent::Concurrent;
use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Begun, Firing};
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

/// The model of points that only tell: logs, telemetry, notifications.
///
/// Handlers run concurrently in one task, not in parallel: each is started
/// before any is awaited to the end, and the fire returns when all have
/// settled. A fail-closed handler's failure is returned after that.
#[derive(Clone, Copy, Debug)]
pub struct Void;

impl Model for Void {
    const KIND: ModelKind = ModelKind::Void;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
    type Given<'p, P: HookPoint> = &'p P::Payload;
    type Course<'p, P: HookPoint> = Telling<'p, P>;
}

/// What a handler of a void point, or of a flow's stage, may return.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected nothing, or a `Result` of nothing",
    note = "return `()` or `Result<(), E>`; the error `E` is \
            `Into<Box<dyn Error + Send + Sync>>`"
)]
pub trait ReturnsNothing<P> {
    /// The uniform form.
    fn into_nothing(self) -> Result<(), BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P> ReturnsNothing<P> for () {
    #[inline]
    fn into_nothing(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<P, E: Into<BoxError>> ReturnsNothing<P> for Result<(), E> {
    #[inline]
    fn into_nothing(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsNothing<P>> Returns<Void, P> for T {
    #[inline]
    fn into_output(self) -> Result<(), BoxError> {
        self.into_nothing()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a void point, built-in and
    /// with the defaults. What an annotation on it says counts only in
    /// [`handlers!`](crate::handlers).
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    #[track_caller]
    pub fn register_void<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Void, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Void, P, As = Void>,
    {
        self.register_one(on::<P>().finish(handler.into_async()))
    }

    /// As [`register_void`](Self::register_void), called on `state` first.
    #[track_caller]
    pub fn register_void_with<P, S>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Void, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Void, P, As = Void>,
    {
        self.register_one(on::<P>().finish(handler.into_async_with(Arc::new(state))))
    }
}

impl ScopedHooks {
    /// Tells every handler of `P`, and returns when all have settled.
    #[inline]
    pub fn fire_void<'f, P>(
        &'f self,
        payload: &'f P::Payload,
    ) -> impl Future<Output = Result<(), FireError>> + Send + use<'f, P>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        Firing::<P, Void, Concurrent<'f, P>>::new(self, payload)
    }

    /// As [`fire_void`](Self::fire_void); the payload is made only if somebody
    /// listens.
    #[inline]
    pub async fn fire_void_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Result<(), FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        if self.needs_payload::<P>()? { self.fire_void::<P>(&payload()).await } else { Ok(()) }
    }

    /// As [`fire_void`](Self::fire_void), with a report.
    pub async fn fire_void_reported<P>(
        &self,
        payload: &P::Payload,
    ) -> (Result<(), FireError>, FireReport)
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        if let Err(error) = self.listening::<P>() {
            return (Err(error), FireReport::of_nobody(P::descriptor()));
        }
        let watch = Watch::reporting::<P>(self);
        let fire = Fire::of::<P>(self, Some(&watch));
        let outcome = Begun::<P, Void, Concurrent<'_, P>>::new(fire, Telling { payload }).await;
        (outcome, watch.into_report())
    }
}

/// What is told to everybody.
#[derive(Debug)]
pub struct Telling<'p, P: HookPoint> {
    payload: &'p P::Payload,
}

impl<P: HookPoint> Composes<P> for Void {
    type Outcome = ();

    #[inline]
    fn unheard(_: &P::Payload) {}

    #[inline]
    fn begin<'p>(payload: &'p P::Payload) -> Telling<'p, P>
    where
        'p: 'p,
    {
        Telling { payload }
    }

    #[inline]
    fn lend<'a>(telling: &'a mut Telling<'_, P>) -> Lent<'a, &'a P::Payload> {
        Lent { input: telling.payload, merged: None }
    }

    #[inline]
    fn silent() -> Option<()> {
        Some(())
    }

    #[inline]
    fn accept(_: &mut Telling<'_, P>, _: &Entry, (): (), _: Option<&mut Contribution>) -> Next {
        Next::On
    }

    fn word(_: &Telling<'_, P>) -> &'static str {
        "told"
    }

    #[inline]
    fn finish(_: &mut Telling<'_, P>) {}
}
