//! Void: all handlers concurrently, all awaited to the end.

use std::sync::Arc;

use crate::dispatch::concurrent;
use crate::dispatch::fire::{Fire, report};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handle::Handle;
use crate::invoke::{AsyncHandler, AsyncHandlerWith};
use crate::models::{FiresAs, Model, RegistersAs, Returns};
use crate::point::{HookPoint, ModelKind};
use crate::registration::on;
use crate::registry::HookRegistry;
use crate::report::{FireReport, Recorder};
use crate::scope::ScopedHooks;

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
}

#[diagnostic::do_not_recommend]
impl<P: HookPoint> Returns<Void, P> for () {
    #[inline]
    fn into_output(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<P: HookPoint, E: Into<BoxError>> Returns<Void, P> for Result<(), E> {
    #[inline]
    fn into_output(self) -> Result<(), BoxError> {
        self.map_err(Into::into)
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
    pub async fn fire_void<P>(&self, payload: &P::Payload) -> Result<(), FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        if self.is_quiet::<P>() || !self.listens::<P>()? {
            return Ok(());
        }
        fire::<P>(self, payload).await
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
        if self.is_quiet::<P>() || !self.listens::<P>()? {
            return Ok(());
        }
        fire::<P>(self, &payload()).await
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
        let recorder = Recorder::default();
        let mut held = match self.listens::<P>() {
            Ok(true) => self.hold::<P>(),
            Ok(false) => None,
            Err(error) => return (Err(error), report::<P>(recorder, None)),
        };
        let outcome = match &mut held {
            None => Ok(()),
            Some(held) => match Fire::nested::<P>(self, Some(&recorder)) {
                Ok(fire) => concurrent::run(&fire, held, payload).await,
                Err(error) => Err(error),
            },
        };
        (outcome, report(recorder, held.as_ref()))
    }
}

async fn fire<P>(hooks: &ScopedHooks, payload: &P::Payload) -> Result<(), FireError>
where
    P: HookPoint,
    P::Model: FiresAs<Void, P>,
{
    let Some(mut held) = hooks.hold::<P>() else {
        return Ok(());
    };
    let fire = Fire::nested::<P>(hooks, None)?;
    concurrent::run(&fire, &mut held, payload).await
}
