//! The guards of a gating point: what they may return and how they register.

use crate::error::{BoxError, RegisterError};
use crate::handler::on::on;
use crate::handler::{AsyncHandler, AsyncHandlerWith};
use crate::model::compose::Sealed;
use crate::model::gating::{Gating, Verdict};
use crate::model::{Model, RegistersAs, Returns};
use crate::point::{HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;

/// The role of a guard at a gating point.
///
/// The example of [`register_guard`](HookRegistry::register_guard) has one.
#[derive(Clone, Copy, Debug)]
pub struct Guard;

impl Sealed for Guard {}

impl Model for Guard {
    const KIND: ModelKind = ModelKind::Gating;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = Judgement<<P::Model as Model>::Reason<P>>;
    type Reason<P: HookPoint> = <P::Model as Model>::Reason<P>;
    type Given<'f, P: HookPoint> = ();
    type Accumulator<P: HookPoint> = ();
}

#[diagnostic::do_not_recommend]
impl<P: HookPoint<Model = Self>> RegistersAs<Guard, P> for Gating {
    type As = Guard;

    #[inline]
    fn given(input: Self::Input<'_, P>) -> <Guard as Model>::Input<'_, P> {
        input
    }

    #[inline]
    fn returned(verdict: Judgement<P::Result>) -> Verdict<P::Payload, P::Result> {
        match verdict {
            Verdict::Pass => Verdict::Pass,
            Verdict::Replace(never) => match never {},
            Verdict::Reject(reason) => Verdict::Reject(reason),
        }
    }
}

/// What a guard puts in place of the payload: nothing, ever.
///
/// The example of [`Judgement`] has a verdict with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReplacement {}

/// What a guard decides: a [`Verdict`] that cannot replace the payload. `R` is the
/// type of the reason that the point declares.
///
/// ```
/// use hooks_runtime::{Judgement, Verdict};
///
/// fn only_today(day: &u32) -> Judgement {
///     if *day == 0 { Judgement::Pass } else { Judgement::reject("come back later") }
/// }
///
/// assert_eq!(only_today(&0), Verdict::Pass);
/// assert_eq!(only_today(&3), Verdict::Reject("come back later".to_owned()));
/// ```
pub type Judgement<R = String> = Verdict<NoReplacement, R>;

/// What a guard of a gating point with reasons of the type `R` may return.
///
/// The example of [`Judgement`] has a function that returns one.
#[diagnostic::on_unimplemented(
    message = "a guard of `{P}` cannot return `{Self}`",
    label = "expected `Judgement<{R}>`, or a `Result` of it",
    note = "a guard judges the payload and cannot replace it: return `Judgement<{R}>` or \
            `Result<Judgement<{R}>, E>`; the error `E` is `Into<Box<dyn Error + Send + Sync>>`",
    note = "`Judgement<{R}>` is short for `Verdict<NoReplacement, {R}>`; `{R}` is the type of \
            reason that the point declares, `String` where it declares none"
)]
pub trait ReturnsJudgement<P, R> {
    /// The uniform form.
    fn into_judgement(self) -> Result<Judgement<R>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsJudgement<P, R> for Judgement<R> {
    #[inline]
    fn into_judgement(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsJudgement<P, R> for Result<Judgement<R>, E> {
    #[inline]
    fn into_judgement(self) -> Result<Judgement<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsJudgement<P, <Guard as Model>::Reason<P>>> Returns<Guard, P> for T {
    #[inline]
    fn into_output(self) -> Result<<Guard as Model>::Output<P>, BoxError> {
        self.into_judgement()
    }
}

/// Why the answer of a guard that replaces is a failure.
#[cold]
pub(crate) fn guard_that_replaces(point: &'static str) -> BoxError {
    format!("a guard of `{point}` cannot replace the payload").into()
}

impl HookRegistry {
    /// Registers an async function or closure as a guard at a gating point.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, Verdict, hook_points};
    /// # hook_points! { pub gating Paying { cents: u64 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register_guard::<Paying>(async |payment: &PayingPayload| {
    ///     if payment.cents > 100 { Judgement::reject("over the limit") } else { Judgement::Pass }
    /// })?;
    /// // A rewriter that is registered later runs before it all the same.
    /// hooks.register_gating::<Paying>(async |payment: &PayingPayload| {
    ///     Verdict::Replace(PayingPayload { cents: payment.cents + 20 })
    /// })?;
    /// let paid = hooks.fire_gating::<Paying>(PayingPayload { cents: 90 }).await?;
    /// assert_eq!(paid.into_result().unwrap_err().reason(), "over the limit");
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_guard<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Guard, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Guard, P, As = Guard>,
    {
        self.register_async(on().guarding(), handler)
    }

    /// As [`register_guard`](Self::register_guard), called on `state` first.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, Judgement, hook_points};
    /// # hook_points! { pub gating Connecting { host: String } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let allowed = vec!["localhost".to_owned()];
    /// hooks.register_guard_with::<Connecting, _>(allowed, async |allowed, connecting| {
    ///     if allowed.contains(&connecting.host) { Judgement::Pass } else { Judgement::reject("unknown") }
    /// })?;
    /// let connecting = ConnectingPayload { host: "localhost".into() };
    /// assert_eq!(hooks.fire_gating::<Connecting>(connecting).await?.into_result()?.host, "localhost");
    /// # Ok(()) }
    /// ```
    #[track_caller]
    pub fn register_guard_with<P, S /* write `register_guard_with::<P, _>(…)` */>(
        &self,
        state: S,
        handler: impl AsyncHandlerWith<S, <P::Model as RegistersAs<Guard, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Guard, P, As = Guard>,
    {
        self.register_async_with(on().guarding(), state, handler)
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict;
    use crate::handler::on::on;
    use crate::registry::HookRegistry;
    use crate::report::HandlerStatus;

    crate::hook_points! {
        pub(super) gating Send(String);
    }

    /// Of the forms of registration only that of handlers that speak JSON makes
    /// such handlers: the composition refuses what they answer.
    #[tokio::test]
    async fn l10_a_replacement_by_a_guard_is_its_failure_and_never_the_payload() {
        const SAYS: &str = "a guard of `send` cannot replace the payload";
        let at_once = on::<Send>()
            .name("at_once")
            .guarding()
            .handler(|text: &String| Verdict::Replace(format!("{text}!")));
        let later = on::<Send>().name("later").guarding().handler(async |text: &String| {
            tokio::task::yield_now().await;
            Verdict::Replace(format!("{text}?"))
        });

        for posing in [at_once, later] {
            let hooks = HookRegistry::new();
            hooks.register(posing).unwrap();
            let error = hooks.fire_gating::<Send>("hello".to_owned()).await.unwrap_err();
            assert_eq!(error.failure().unwrap().kind().to_string(), SAYS);

            let (outcome, report) = hooks.fire_gating_reported::<Send>("hello".to_owned()).await;
            assert_eq!(outcome.unwrap_err().to_string(), error.to_string());
            let HandlerStatus::Failed { kind, message, .. } = report.handlers()[0].status() else {
                panic!("{report}")
            };
            assert_eq!((*kind, &**message), ("error", SAYS));
        }
    }
}
