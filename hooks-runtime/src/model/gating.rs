//! Gating: rewriters in order, then guards; the first rejection stops.

use std::future::Future;

use crate::engine::containment::{drop_contained, shown_reason};
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::guard::{Judgement, NoReplacement, guard_that_replaces};
use crate::model::rejection::Rejection;
use crate::model::{FiresAs, Model, RegistersAs, Returns};
use crate::observe::report::{Contribution, FireReport, SkipReason};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

/// The model of points that a payload must pass before the host uses it.
///
/// Rewriters run one after another, each sees the payload that the one before
/// left. Then guards run, which see the final payload and cannot change it: so
/// what a guard judged is what the host gets. The first rejection ends the
/// fire.
#[derive(Clone, Copy, Debug)]
pub struct Gating;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// Rewriters, then guards; the first rejection stops.
    // No verdict is not a pass, so it fails closed.
    pub const Gating: Self = Self::new("Gating", "gating", FailurePolicy::Closed);
}

impl Sealed for Gating {}

impl Model for Gating {
    const KIND: ModelKind = ModelKind::Gating;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Verdict<P::Payload, P::Result>;
    type Reason<P: HookPoint> = P::Result;
    type Given<'f, P: HookPoint> = P::Payload;
    type Accumulator<P: HookPoint> = Passing<P::Payload, P::Result>;
}

/// What a gating handler decides.
///
/// A rewriter returns `Verdict<Payload>`. A guard returns `Verdict`, whose
/// `Replace` cannot be made. The reason of a rejection is text, or of the type
/// that the point declares, `R`: then a rewriter returns `Verdict<Payload, R>` and
/// a guard [`Judgement<R>`](Judgement). [`Rejection`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a verdict decides only when it is returned"]
pub enum Verdict<P = NoReplacement, R = String> {
    /// The payload may pass as it is.
    Pass,
    /// The payload may pass, but this one in its place.
    Replace(P),
    /// The payload must not pass, for this reason.
    Reject(R),
}

impl<P, R> Verdict<P, R> {
    /// The payload must not pass, for this reason.
    pub fn reject(reason: impl Into<R>) -> Self {
        Self::Reject(reason.into())
    }
}

/// Whether the payload passed the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the payload is usable only where the gate passed it"]
pub enum Gate<P, R = String> {
    /// It did, as the rewriters left it.
    Passed(P),
    /// It did not.
    Rejected(Rejection<R>),
}

/// What a rewriter of a gating point may return, where it is to be an `Expected`
/// and a guard's a `Judged`.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `{Expected}`, or a `Result` of it",
    note = "return `{Expected}` or `Result<{Expected}, E>`; the error `E` is \
            `Into<Box<dyn Error + Send + Sync>>`",
    note = "a guard, which cannot replace the payload, returns `{Judged}`: write `guard` in the \
            annotation, or use `register_guard` or `on::<{P}>().guard(f)`; with state \
            `register_guard_with` or `guard_with`"
)]
pub trait ReturnsVerdict<P, Expected, Judged> {
    /// The uniform form.
    fn into_verdict(self) -> Result<Expected, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, T, R, J> ReturnsVerdict<P, Self, J> for Verdict<T, R> {
    #[inline]
    fn into_verdict(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, T, R, J, E> ReturnsVerdict<P, Verdict<T, R>, J> for Result<Verdict<T, R>, E>
where
    E: Into<BoxError>,
{
    #[inline]
    fn into_verdict(self) -> Result<Verdict<T, R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P, T> Returns<Gating, P> for T
where
    P: HookPoint,
    T: ReturnsVerdict<P, Verdict<P::Payload, P::Result>, Judgement<P::Result>>,
{
    #[inline]
    fn into_output(self) -> Result<Verdict<P::Payload, P::Result>, BoxError> {
        self.into_verdict()
    }
}

impl HookRegistry {
    /// Registers an async function or closure as a rewriter at a gating point.
    ///
    /// For a synchronous one, one that takes the
    /// [`HookContext`](crate::HookContext), or options, see [`on`].
    #[track_caller]
    pub fn register_gating<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Gating, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Gating, P, As = Gating>,
    {
        self.register_async(on(), handler)
    }

    /// As [`register_gating`](Self::register_gating), called on `state` first.
    #[track_caller]
    pub fn register_gating_with<P, S>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Gating, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Gating, P, As = Gating>,
    {
        self.register_async_with(on(), state, handler)
    }
}

impl ScopedHooks {
    /// Passes `payload` through the rewriters and the guards of `P`.
    ///
    /// It comes back in [`Gate::Passed`], without a clone where no handler
    /// replaced it.
    #[inline]
    pub fn fire_gating<P>(
        &self,
        payload: P::Payload,
    ) -> impl Future<Output = Result<Gate<P::Payload, P::Result>, FireError>> + Send + use<'_, P>
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        self.fire::<Gating, P>(payload)
    }

    /// As [`fire_gating`](Self::fire_gating); the payload is made only if there
    /// are handlers. `None` where there are none, and no payload was made: the
    /// caller goes on with what it has.
    #[inline]
    pub async fn fire_gating_with<P>(
        &self,
        payload: impl FnOnce() -> P::Payload + Send,
    ) -> Result<Option<Gate<P::Payload, P::Result>>, FireError>
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        if self.needs_payload::<P>()? {
            return self.fire::<Gating, P>(payload()).await.map(Some);
        }
        Ok(None)
    }

    /// As [`fire_gating`](Self::fire_gating), with a report.
    pub async fn fire_gating_reported<P>(
        &self,
        payload: P::Payload,
    ) -> (Result<Gate<P::Payload, P::Result>, FireError>, FireReport)
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        self.fire_reported::<Gating, P>(payload).await
    }
}

/// A payload on its way through the gate.
#[derive(Debug)]
pub struct Passing<T, R> {
    payload: T,
    rejection: Option<Box<Rejection<R>>>,
}

#[cold]
#[inline(never)]
fn rejected<T, R>(payload: T, rejection: Rejection<R>) -> Gate<T, R> {
    drop_contained("a payload that was rejected", payload);
    Gate::Rejected(rejection)
}

impl<T: Send, R: Send> Accumulator for Passing<T, R> {
    type Outcome = Gate<T, R>;

    #[inline]
    fn empty(self) -> Result<Gate<T, R>, FireError> {
        let Self { payload, rejection } = self;
        // There is none, which the compiler does not see.
        std::mem::forget(rejection);
        Ok(Gate::Passed(payload))
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.rejection.is_none()
    }

    #[inline]
    fn finish(self) -> Gate<T, R> {
        match self.rejection {
            None => Gate::Passed(self.payload),
            Some(rejection) => rejected(self.payload, *rejection),
        }
    }

    fn label(&self) -> &'static str {
        if self.rejection.is_some() { "rejected" } else { "passed" }
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Gating {
    #[inline]
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        &call.accumulator().payload
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    /// No failure swallows a rejection; and where a failure lets the payload
    /// pass, it does not undo what a rewriter took out of it.
    fn stands(verdict: &Verdict<P::Payload, P::Result>, policy: FailurePolicy) -> bool {
        match verdict {
            Verdict::Reject(_) => true,
            Verdict::Replace(_) => policy == FailurePolicy::Open,
            Verdict::Pass => false,
        }
    }

    // Always inlined, for where the handler lets it pass, as most do.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, verdict: Verdict<P::Payload, P::Result>) -> CallStep {
        match verdict {
            Verdict::Pass => {
                if call.is_recording() {
                    call.contribute(Contribution::Passed);
                }
                CallStep::Continue
            }
            Verdict::Replace(payload) => replace(call, payload),
            Verdict::Reject(reason) => reject(call, reason),
        }
    }
}

#[inline(never)]
fn replace<P: HookPoint<Model = Gating>>(
    call: &mut Call<'_, '_, P>,
    payload: P::Payload,
) -> CallStep {
    // What the guards before this one judged must be what the host gets.
    if call.is_guard() {
        drop_contained("a payload that a guard cannot replace", payload);
        return call.fail(guard_that_replaces(P::NAME));
    }
    call.contribute(Contribution::Replaced);
    let replaced = std::mem::replace(&mut call.accumulator().payload, payload);
    drop_contained("a payload that was replaced", replaced);
    CallStep::Continue
}

#[inline(never)]
fn reject<P: HookPoint<Model = Gating>>(call: &mut Call<'_, '_, P>, reason: P::Result) -> CallStep {
    if call.is_recording() {
        call.contribute(Contribution::Rejected(shown_reason(P::displayed(&reason))));
    }
    let (handler, owner) = call.handler();
    let rejection = Rejection::new(P::NAME, handler, owner, reason);
    call.accumulator().rejection = Some(Box::new(rejection));
    call.end(SkipReason::AfterRejection)
}

impl<P: HookPoint<Model = Self>> Begin<P> for Gating {
    #[inline]
    fn begin(
        hooks: &ScopedHooks,
        payload: P::Payload,
    ) -> FireFuture<'_, P, Passing<P::Payload, P::Result>> {
        FireFuture::owning(hooks, Passing { payload, rejection: None })
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> P::Payload {
        payload.take().expect("it was made")
    }
}
