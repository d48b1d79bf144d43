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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoReplacement {}

/// What a guard decides: a [`Verdict`] that cannot replace the payload. `R` is the
/// type of the reason that the point declares.
pub type Judgement<R = String> = Verdict<NoReplacement, R>;

/// What a guard of a gating point may return, where it is to be an `Expected`.
#[diagnostic::on_unimplemented(
    message = "a guard of `{P}` cannot return `{Self}`",
    label = "expected `{Expected}`, or a `Result` of it",
    note = "a guard judges the payload and cannot replace it: return `{Expected}` or \
            `Result<{Expected}, E>`; the error `E` is `Into<Box<dyn Error + Send + Sync>>`",
    note = "`Judgement<R>` is short for `Verdict<NoReplacement, R>`, where `R` is the type of \
            reason that the point declares"
)]
pub trait ReturnsJudgement<P, Expected> {
    /// The uniform form.
    fn into_judgement(self) -> Result<Expected, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P, R> ReturnsJudgement<P, Self> for Judgement<R> {
    #[inline]
    fn into_judgement(self) -> Result<Self, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, R, E: Into<BoxError>> ReturnsJudgement<P, Judgement<R>> for Result<Judgement<R>, E> {
    #[inline]
    fn into_judgement(self) -> Result<Judgement<R>, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsJudgement<P, <Guard as Model>::Output<P>>> Returns<Guard, P> for T {
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
    #[track_caller]
    pub fn register_guard_with<P, S>(
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
    use crate::observe::report::HandlerStatus;
    use crate::registry::HookRegistry;

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
