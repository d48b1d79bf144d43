//! Gating: rewriters in order, then guards; the first rejection stops.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::engine::containment::drop_contained;
use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::escape::escaped;
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::guard::{NoReplacement, guard_that_replaces};
use crate::model::{FiresAs, Model, RegistersAs, Returns};
use crate::observe::report::{Contribution, FireReport, SkipReason};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::entry::Owner;
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
    type Output<P: HookPoint> = Verdict<P::Payload>;
    type Given<'f, P: HookPoint> = P::Payload;
    type Accumulator<P: HookPoint> = Passing<P::Payload>;
}

/// What a gating handler decides.
///
/// A rewriter returns `Verdict<Payload>`. A guard returns `Verdict`, whose
/// `Replace` cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a verdict decides only when it is returned"]
pub enum Verdict<P = NoReplacement> {
    /// The payload may pass as it is.
    Pass,
    /// The payload may pass, but this one in its place.
    Replace(P),
    /// The payload must not pass, for this reason.
    Reject(String),
}

impl<P> Verdict<P> {
    /// The payload must not pass, for this reason.
    pub fn reject(reason: impl Into<String>) -> Self {
        Self::Reject(reason.into())
    }
}

/// Whether the payload passed the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the payload is usable only where the gate passed it"]
pub enum Gate<P> {
    /// It did, as the rewriters left it.
    Passed(P),
    /// It did not.
    Rejected(Rejection),
}

/// A rejection: by whom, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    point: &'static str,
    handler: Arc<str>,
    owner: Owner,
    reason: String,
}

impl Rejection {
    /// Why.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The name of the handler that rejected.
    pub fn handler(&self) -> &str {
        &self.handler
    }

    /// Who registered that handler.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The wire name of the point.
    pub fn point(&self) -> &'static str {
        self.point
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, handler, owner, reason } = self;
        let (handler, reason) = (escaped(handler), escaped(reason));
        write!(f, "rejected at `{point}` by `{handler}` ({owner}): {reason}")
    }
}

/// What a rewriter of a gating point may return.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `Verdict<{Payload}>`, or a `Result` of it",
    note = "return `Verdict<{Payload}>` or `Result<Verdict<{Payload}>, E>`; the error `E` is \
            `Into<Box<dyn Error + Send + Sync>>`",
    note = "a guard, which cannot replace the payload, returns `Verdict`: write `guard` in the \
            annotation, or use `register_guard` or `on::<{P}>().guard(f)`; with state \
            `register_guard_with` or `guard_with`"
)]
pub trait ReturnsVerdict<P, Payload> {
    /// The uniform form.
    fn into_verdict(self) -> Result<Verdict<Payload>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, T> ReturnsVerdict<P, T> for Verdict<T> {
    #[inline]
    fn into_verdict(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, T, E: Into<BoxError>> ReturnsVerdict<P, T> for Result<Verdict<T>, E> {
    #[inline]
    fn into_verdict(self) -> Result<Verdict<T>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsVerdict<P, P::Payload>> Returns<Gating, P> for T {
    #[inline]
    fn into_output(self) -> Result<Verdict<P::Payload>, BoxError> {
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
    ) -> impl Future<Output = Result<Gate<P::Payload>, FireError>> + Send + use<'_, P>
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
    ) -> Result<Option<Gate<P::Payload>>, FireError>
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
    ) -> (Result<Gate<P::Payload>, FireError>, FireReport)
    where
        P: HookPoint,
        P::Model: FiresAs<Gating, P>,
    {
        self.fire_reported::<Gating, P>(payload).await
    }
}

/// A payload on its way through the gate.
#[derive(Debug)]
pub struct Passing<T> {
    payload: T,
    rejection: Option<Box<Rejection>>,
}

#[cold]
#[inline(never)]
fn rejected<T>(payload: T, rejection: Rejection) -> Gate<T> {
    drop_contained("a payload that was rejected", payload);
    Gate::Rejected(rejection)
}

impl<T: Send> Accumulator for Passing<T> {
    type Outcome = Gate<T>;

    #[inline]
    fn empty(self) -> Result<Gate<T>, FireError> {
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
    fn finish(self) -> Gate<T> {
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
    fn stands(verdict: &Verdict<P::Payload>, policy: FailurePolicy) -> bool {
        match verdict {
            Verdict::Reject(_) => true,
            Verdict::Replace(_) => policy == FailurePolicy::Open,
            Verdict::Pass => false,
        }
    }

    // Always inlined, for where the handler lets it pass, as most do.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    fn compose(call: &mut Call<'_, '_, P>, verdict: Verdict<P::Payload>) -> CallStep {
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
fn reject<P: HookPoint<Model = Gating>>(call: &mut Call<'_, '_, P>, reason: String) -> CallStep {
    if call.is_recording() {
        call.contribute(Contribution::Rejected(reason.clone()));
    }
    let (handler, owner) = call.handler();
    let rejection = Rejection { point: P::NAME, handler, owner, reason };
    call.accumulator().rejection = Some(Box::new(rejection));
    call.end(SkipReason::AfterRejection)
}

impl<P: HookPoint<Model = Self>> Begin<P> for Gating {
    #[inline]
    fn begin(hooks: &ScopedHooks, payload: P::Payload) -> FireFuture<'_, P, Passing<P::Payload>> {
        FireFuture::owning(hooks, Passing { payload, rejection: None })
    }

    #[inline]
    fn given(payload: &mut Option<P::Payload>) -> P::Payload {
        payload.take().expect("it was made")
    }
}
