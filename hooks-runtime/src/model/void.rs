//! Void: all handlers concurrently, all awaited to the end.

use std::future::Future;

use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{FiresAs, Model, RegistersAs, Returns};
use crate::observe::report::FireReport;
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

/// The model of points that only notify: logs, telemetry, notifications.
///
/// Handlers run concurrently in one task, not in parallel: each is started
/// before any is awaited to the end, and the fire returns when all have
/// settled. A fail-closed handler's failure is returned after that.
#[derive(Clone, Copy, Debug)]
pub struct Void;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// All handlers, concurrently; nothing to compose.
    pub const Void: Self = Self::new("Void", "void", FailurePolicy::Open);
}

impl Sealed for Void {}

impl Model for Void {
    const KIND: ModelKind = ModelKind::Void;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = ();
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Nothing;
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
        self.register_async(on(), handler)
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
        self.register_async_with(on(), state, handler)
    }
}

impl ScopedHooks {
    /// Calls every handler of `P`, and returns when all have settled.
    #[inline]
    pub fn fire_void<'f, P>(
        &'f self,
        payload: &'f P::Payload,
    ) -> impl Future<Output = Result<(), FireError>> + Send + use<'f, P>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        self.fire::<Void, P>(payload)
    }

    /// As [`fire_void`](Self::fire_void); the payload is made only if there are
    /// handlers.
    #[inline]
    pub async fn fire_void_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Result<(), FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Void, P>,
    {
        if self.needs_payload::<P>()? {
            return self.fire_made::<Void, P>(payload()).await;
        }
        Ok(())
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
        self.fire_reported::<Void, P>(payload).await
    }
}

/// Handlers of void points have no answer.
#[derive(Debug)]
pub struct Nothing;

impl Accumulator for Nothing {
    type Outcome = ();
    const CONCURRENT: bool = true;

    #[inline]
    fn finish(self) {}

    fn label(&self) -> &'static str {
        "notified"
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Void {
    const COMPOSES: bool = false;

    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    #[inline]
    fn compose(_: &mut Call<'_, '_, P>, (): ()) -> CallStep {
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self>> Begin<P> for Void {
    #[inline]
    fn begin<'f>(hooks: &'f ScopedHooks, payload: &'f P::Payload) -> FireFuture<'f, P, Nothing> {
        FireFuture::of(hooks, payload, Nothing)
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}
