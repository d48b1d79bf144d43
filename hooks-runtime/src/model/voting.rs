//! Voting: every handler says yes or no; a fire counts the yes.
//!
//! A sixth model, built with `--cfg sixth_model` only, to show that a model is one
//! file. ARCHITECTURE.md walks through it.

use std::future::Future;

use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::{BoxError, FireError, RegisterError};
use crate::handler::AsyncHandler;
use crate::handler::on::on;
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{Fired, FiresAs, Model, RegistersAs, Returns, ToFire};
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};
use crate::registry::HookRegistry;
use crate::registry::handle::Handle;
use crate::report::FireReport;

/// The model of points that ask all handlers for a yes or a no.
#[derive(Clone, Copy, Debug)]
pub struct Voting;

#[allow(non_upper_case_globals)]
impl ModelKind {
    /// One after another; the yes are counted.
    pub const Voting: Self = Self::new("Voting", "voting", FailurePolicy::Open);
}

impl Sealed for Voting {}

impl Model for Voting {
    const KIND: ModelKind = ModelKind::Voting;
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = bool;
    type Reason<P: HookPoint> = String;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Votes;
}

/// What a handler of a voting point may return.
#[diagnostic::on_unimplemented(
    message = "a handler of `{P}` cannot return `{Self}`",
    label = "expected `bool`, or a `Result` of it"
)]
pub trait ReturnsVote<P> {
    /// The uniform form.
    fn into_vote(self) -> Result<bool, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P> ReturnsVote<P> for bool {
    fn into_vote(self) -> Result<bool, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<P, E: Into<BoxError>> ReturnsVote<P> for Result<bool, E> {
    fn into_vote(self) -> Result<bool, BoxError> {
        self.map_err(Into::into)
    }
}

impl<P: HookPoint, T: ReturnsVote<P>> Returns<Voting, P> for T {
    fn into_output(self) -> Result<bool, BoxError> {
        self.into_vote()
    }
}

impl HookRegistry {
    /// Registers an async function or closure at a voting point.
    #[track_caller]
    pub fn register_voting<P>(
        &self,
        handler: impl AsyncHandler<<P::Model as RegistersAs<Voting, P>>::As, P>,
    ) -> Result<Handle, RegisterError>
    where
        P: HookPoint,
        P::Model: RegistersAs<Voting, P, As = Voting>,
    {
        self.register_async(on(), handler)
    }
}

impl ScopedHooks {
    /// Asks every handler of `P` in order; how many said yes.
    pub fn fire_voting<'f, P>(
        &'f self,
        payload: ToFire<P, Voting, &'f P::Payload>,
    ) -> Fired<P, Voting, impl Future<Output = Result<usize, FireError>> + Send + use<'f, P>>
    where
        P: HookPoint,
        P::Model: FiresAs<Voting, P>,
    {
        let payload = <P::Model as FiresAs<Voting, P>>::taken(payload);
        <P::Model as FiresAs<Voting, P>>::fired(self.fire::<Voting, P>(payload))
    }

    /// As [`fire_voting`](Self::fire_voting), with a report.
    pub fn fire_voting_reported<'f, P>(
        &'f self,
        payload: ToFire<P, Voting, &'f P::Payload>,
    ) -> Fired<P, Voting, impl Future<Output = (Result<usize, FireError>, FireReport)>>
    where
        P: HookPoint,
        P::Model: FiresAs<Voting, P>,
    {
        let payload = <P::Model as FiresAs<Voting, P>>::taken(payload);
        <P::Model as FiresAs<Voting, P>>::fired(self.fire_reported::<Voting, P>(payload))
    }
}

/// How many said yes so far.
#[derive(Debug, Default)]
pub struct Votes(usize);

impl Accumulator for Votes {
    type Outcome = usize;

    fn finish(self) -> usize {
        self.0
    }

    fn label(&self) -> &'static str {
        "counted"
    }
}

impl<P: HookPoint<Model = Self>> Compose<P> for Voting {
    fn input<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        call.payload()
    }

    fn payload<'a>(call: &'a mut Call<'_, '_, P>) -> &'a P::Payload {
        Self::input(call)
    }

    fn compose(call: &mut Call<'_, '_, P>, vote: bool) -> CallStep {
        call.accumulator().0 += usize::from(vote);
        CallStep::Continue
    }
}

impl<P: HookPoint<Model = Self>> Begin<P> for Voting {
    fn begin<'f>(hooks: &'f ScopedHooks, payload: &'f P::Payload) -> FireFuture<'f, P, Votes> {
        FireFuture::of(hooks, payload, Votes::default())
    }

    fn given(payload: &mut Option<P::Payload>) -> &P::Payload {
        payload.as_ref().expect("it was made")
    }
}

#[cfg(test)]
mod tests {
    use crate::point::ModelKind;
    use crate::report::{Contribution, HandlerStatus};
    use crate::{HookRegistry, handlers, hook_handler, hook_points, on};

    hook_points! {
        #![hook(json = "snake_case", catalogue = fn points)]

        /// May this sum be paid?
        pub(crate) voting Approve(u32);
    }

    #[hook_handler(Approve, crate = crate)]
    fn small(sum: &u32) -> bool {
        *sum < 10
    }

    /// Two handlers that vote, and one that fails.
    fn voters() -> HookRegistry {
        let hooks = HookRegistry::new();
        hooks.register(handlers![small]).unwrap();
        let odd = async |sum: &u32| {
            tokio::task::yield_now().await;
            sum % 2 == 1
        };
        hooks.register_voting::<Approve>(odd).unwrap();
        let fails = |_: &u32| Err::<bool, _>("no opinion");
        hooks.register(on::<Approve>().name("fails").handler(fails)).unwrap();
        hooks
    }

    #[tokio::test]
    async fn a_sixth_model_is_declared_registered_fired_and_reported() {
        assert_eq!(HookRegistry::new().fire_voting::<Approve>(&7).await.unwrap(), 0);
        let hooks = voters();
        assert_eq!(hooks.fire_voting::<Approve>(&7).await.unwrap(), 2);
        let (votes, report) = hooks.fire_voting_reported::<Approve>(&13).await;
        assert_eq!((votes.unwrap(), report.model()), (1, ModelKind::Voting));
        let rows: Vec<_> = report.handlers().iter().map(|row| row.status().as_str()).collect();
        assert_eq!(rows, ["ran", "ran", "error"]);
        assert_eq!(*report.handlers()[1].status(), HandlerStatus::Ran(Contribution::Nothing));
    }

    #[cfg(feature = "json")]
    #[tokio::test]
    async fn a_sixth_model_is_fired_and_handled_by_name() {
        use serde_json::{Value, json};

        let (hooks, points) = (voters(), points());
        let large = |sum: Value| json!(sum.as_u64() > Some(5));
        hooks.register(points.on("approve").unwrap().name("large").handler(large)).unwrap();
        let says_much = |_: Value| json!({"vote": true});
        hooks.register(points.on("approve").unwrap().name("much").handler(says_much)).unwrap();

        let json = hooks.json(&points);
        assert_eq!(json.fire("approve", "7").await.unwrap().to_json(), json!(3));
        let (votes, report) = json.fire_reported("approve", "2").await;
        assert_eq!(votes.unwrap().to_json(), json!(1));
        let HandlerStatus::Failed { message, .. } =
            report.as_ref().unwrap().handler("much").unwrap().status()
        else {
            panic!("{report:?}")
        };
        assert_eq!(
            message,
            "the answer of `approve` does not fit as a whole: invalid type: map, expected a boolean"
        );
    }
}
