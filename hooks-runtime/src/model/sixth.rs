//! A sixth model, to show that a model is one file: every handler votes, and the
//! fire says how many voted yes. ARCHITECTURE.md walks through it.

use crate::engine::raw::{Call, CallStep, FireFuture};
use crate::error::BoxError;
use crate::model::compose::{Accumulator, Begin, Compose, Sealed};
use crate::model::{Model, Returns};
use crate::observe::report::Contribution;
use crate::plugin::scope::ScopedHooks;
use crate::point::{FailurePolicy, HookPoint, ModelKind};

/// The marker of the model.
#[derive(Clone, Copy, Debug)]
struct Voting;

impl Sealed for Voting {}

impl Model for Voting {
    const KIND: ModelKind = ModelKind::new("Voting", "voting", FailurePolicy::Open);
    type Input<'a, P: HookPoint> = &'a P::Payload;
    type Output<P: HookPoint> = bool;
    type Given<'f, P: HookPoint> = &'f P::Payload;
    type Accumulator<P: HookPoint> = Votes;
}

/// What a handler may return.
impl<P: HookPoint> Returns<Voting, P> for bool {
    fn into_output(self) -> Result<bool, BoxError> {
        Ok(self)
    }
}

/// How many voted yes so far.
#[derive(Debug, Default)]
struct Votes(usize);

impl Accumulator for Votes {
    type Outcome = usize;

    fn empty(&mut self) -> usize {
        0
    }

    fn finish(&mut self) -> usize {
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

    fn compose(call: &mut Call<'_, '_, P>, vote: bool) -> CallStep {
        call.accumulator().0 += usize::from(vote);
        if vote {
            call.contribute(Contribution::Claimed);
        }
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

mod tests {
    use super::Voting;
    use crate::handler::on::on;
    use crate::model::Model as _;
    use crate::point::{HookPoint, PointDescriptor, SourceLocation};
    use crate::registry::HookRegistry;

    /// What `hook_points!` would write, with an arm for the word `voting`.
    struct Approve;

    impl HookPoint for Approve {
        type Payload = u32;
        type Result = usize;
        type Model = Voting;
        const NAME: &'static str = "approve";

        fn descriptor() -> &'static PointDescriptor {
            static DESCRIPTOR: PointDescriptor = PointDescriptor::new(
                "approve",
                Voting::KIND,
                "May this be sent?",
                SourceLocation::new(file!(), line!(), column!()),
            );
            &DESCRIPTOR
        }
    }

    #[tokio::test]
    async fn a_sixth_model_registers_fires_and_reports_by_its_file_alone() {
        let hooks = HookRegistry::new();
        assert_eq!(hooks.fire::<Voting, Approve>(&7).await.unwrap(), 0);
        hooks
            .register([
                on::<Approve>().name("small").handler(|sum: &u32| *sum < 10),
                on::<Approve>().name("odd").handler(async |sum: &u32| {
                    tokio::task::yield_now().await;
                    sum % 2 == 1
                }),
                on::<Approve>().name("fails").handler(|_: &u32| -> bool { panic!("no opinion") }),
            ])
            .unwrap();
        assert_eq!(hooks.fire::<Voting, Approve>(&7).await.unwrap(), 2);
        let (votes, report) = hooks.fire_reported::<Voting, Approve>(&12).await;
        assert_eq!(votes.unwrap(), 0);
        assert_eq!(report.model().to_string(), "voting");
        let names: Vec<_> = report.handlers().iter().map(|row| row.handler().to_owned()).collect();
        assert_eq!(names, ["small", "odd", "fails"]);
    }
}
