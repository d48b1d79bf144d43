//! Gating: rewriters in order, then guards; the first rejection stops.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::dispatch::fire::Fire;
use crate::dispatch::ground::{Begun, Firing};
use crate::dispatch::sequential::Sequential;
use crate::dispatch::watch::Watch;
use crate::error::{BoxError, FireError, RegisterError};
use crate::escape::escaped;
use crate::handler::on::on;
use crate::invoke::{AsyncHandler, AsyncHandlerWith};
use crate::models::guard::{NoReplacement, guard_that_replaces};
use crate::models::{Composes, FiresAs, Lent, Model, Next, RegistersAs, Returns};
use crate::observe::report::{Contribution, FireReport, SkipReason};
use crate::panics::drop_contained;
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::entry::{Entry, Owner, Phase};
use crate::registry::handle::Handle;

/// The model of points that a payload must pass before the host uses it.
///
/// Rewriters run one after another, each sees the payload that the one before
/// left. Then guards run, which see the final payload and cannot change it: so
/// what a guard judged is what the host gets. The first rejection ends the
/// fire.
#[derive(Clone, Copy, Debug)]
pub struct Gating;

impl Model for Gating {
    const KIND: ModelKind = ModelKind::Gating;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Verdict<P::Payload>;
    type Given<'p, P: HookPoint> = P::Payload;
    type Course<'p, P: HookPoint> = Passing<P>;
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
        self.register_one(on::<P>().finish(handler.into_async()))
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
        self.register_one(on::<P>().finish(handler.into_async_with(Arc::new(state))))
    }
}

impl ScopedHooks {
    /// Passes `payload` through the rewriters and the guards of `P`.
    ///
    /// It comes back in [`Gate::Passed`], without a clone where nobody
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
        Firing::<P, Gating, Sequential<'_, P>>::new(self, payload)
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
        if let Err(error) = self.listening::<P>() {
            return (Err(error), FireReport::of_nobody(P::descriptor()));
        }
        let watch = Watch::reporting::<P>(self);
        let fire = Fire::of::<P>(self, Some(&watch));
        let passing = Gating::begin(payload);
        let outcome = Begun::<P, Gating, Sequential<'_, P>>::new(fire, passing).await;
        (outcome, watch.into_report())
    }
}

/// A payload on its way through the gate.
#[derive(Debug)]
pub struct Passing<P: HookPoint> {
    /// There until the end of the fire.
    payload: Option<P::Payload>,
    rejection: Option<Rejection>,
}

impl<P: HookPoint> Passing<P> {
    #[inline(never)]
    fn replace(
        &mut self,
        entry: &Entry,
        payload: P::Payload,
        told: Option<&mut Contribution>,
    ) -> Next {
        // What the guards before this one judged must be what the host gets.
        if entry.phase == Phase::Guard {
            drop_contained("a payload that a guard cannot replace", payload);
            return Next::Failed(guard_that_replaces(P::NAME));
        }
        if let Some(told) = told {
            *told = Contribution::Replaced;
        }
        let replaced = self.payload.replace(payload);
        drop_contained("a payload that was replaced", replaced);
        Next::On
    }

    #[inline(never)]
    fn reject(&mut self, entry: &Entry, reason: String, told: Option<&mut Contribution>) -> Next {
        if let Some(told) = told {
            *told = Contribution::Rejected(reason.clone());
        }
        self.rejection = Some(Rejection {
            point: P::NAME,
            handler: Arc::clone(&entry.name),
            owner: entry.owner(),
            reason,
        });
        Next::End(SkipReason::AfterRejection)
    }
}

impl<P: HookPoint> Composes<P> for Gating {
    type Outcome = Gate<P::Payload>;

    #[inline]
    fn unheard(payload: P::Payload) -> Gate<P::Payload> {
        Gate::Passed(payload)
    }

    #[inline]
    fn begin<'p>(payload: P::Payload) -> Passing<P>
    where
        'p: 'p,
    {
        Passing { payload: Some(payload), rejection: None }
    }

    #[inline]
    fn lend(passing: &mut Passing<P>) -> Lent<'_, &P::Payload> {
        let payload = passing.payload.as_ref().expect("it is there until the end");
        Lent { input: payload, merged: None }
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
    fn accept(
        passing: &mut Passing<P>,
        entry: &Entry,
        verdict: Verdict<P::Payload>,
        told: Option<&mut Contribution>,
    ) -> Next {
        match verdict {
            Verdict::Pass => {
                if let Some(told) = told {
                    *told = Contribution::Passed;
                }
                Next::On
            }
            Verdict::Replace(payload) => passing.replace(entry, payload, told),
            Verdict::Reject(reason) => passing.reject(entry, reason, told),
        }
    }

    fn word(passing: &Passing<P>) -> &'static str {
        if passing.rejection.is_some() { "rejected" } else { "passed" }
    }

    #[inline]
    fn finish(passing: &mut Passing<P>) -> Gate<P::Payload> {
        match passing.rejection.take() {
            None => Gate::Passed(passing.payload.take().expect("it is there until the end")),
            Some(rejection) => {
                drop_contained("a payload that was rejected", passing.payload.take());
                Gate::Rejected(rejection)
            }
        }
    }
}
