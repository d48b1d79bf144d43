//! Gating by name.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::BoxError;
use crate::handler::forms::StateAsync1;
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::json::answers::VerdictAnswer;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::handler::JsonHandler;
use crate::json::outcome::Outcome;
use crate::json::point::{
    Boxed, ByName, FireOutcome, FiredByName, JsonModel, JsonPoint, Named, with_payload,
};
use crate::model::{Gate, Gating, Verdict, guard_that_replaces};
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::registry::entry::Phase;

impl<P> JsonModel<P> for Gating
where
    P: HookPoint<Model = Gating>,
    P::Payload: Serialize + DeserializeOwned,
{
    fn point() -> JsonPoint {
        JsonPoint(ByName::Fired(const { &Judged(Named::<P>(PhantomData)) }))
    }
}

struct Judged<N>(N);

impl<P> FiredByName for Judged<Named<P>>
where
    P: HookPoint<Model = Gating>,
    P::Payload: Serialize + DeserializeOwned,
{
    fn fire<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        reported: bool,
    ) -> Boxed<'a, FireOutcome> {
        with_payload::<P, _, _>(text, |payload| {
            Box::pin(async move {
                let (gate, report) = if reported {
                    let (gate, report) = hooks.fire_gating_reported::<P>(payload).await;
                    (gate, Some(report))
                } else {
                    (hooks.fire_gating::<P>(payload).await, None)
                };
                (gate.map_err(JsonError::from).and_then(outcome::<P>), report)
            })
        })
    }

    fn register(&self, options: Options, handler: JsonHandler) -> Registration {
        let guards = options.phase == Phase::Guard;
        let on = On::<P>::with_options(options);
        if guards {
            on.guard_with::<_, StateAsync1>(handler, guard::<P>)
        } else {
            on.handler_with::<_, StateAsync1>(handler, judge::<P>)
        }
    }
}

fn outcome<P>(gate: Gate<P::Payload>) -> Result<Outcome, JsonError>
where
    P: HookPoint,
    P::Payload: Serialize,
{
    Ok(Outcome::Gate(match gate {
        Gate::Passed(payload) => Gate::Passed(decode::outcome(P::NAME, &payload)?),
        Gate::Rejected(rejection) => Gate::Rejected(rejection),
    }))
}

async fn judge<P>(
    handler: &JsonHandler,
    payload: &P::Payload,
) -> Result<Verdict<P::Payload>, BoxError>
where
    P: HookPoint<Model = Gating>,
    P::Payload: Serialize + DeserializeOwned,
{
    let answer = handler.ask(payload).await?;
    let VerdictAnswer(verdict) = decode::value(P::NAME, "the answer", answer)?;
    Ok(verdict)
}

async fn guard<P>(handler: &JsonHandler, payload: &P::Payload) -> Result<Verdict, BoxError>
where
    P: HookPoint<Model = Gating>,
    P::Payload: Serialize,
{
    let answer = handler.ask(payload).await?;
    match decode::value(P::NAME, "the answer", answer)? {
        VerdictAnswer(Verdict::Pass) => Ok(Verdict::Pass),
        VerdictAnswer(Verdict::Reject(reason)) => Ok(Verdict::Reject(reason)),
        VerdictAnswer::<Value>(Verdict::Replace(_)) => Err(guard_that_replaces(P::NAME)),
    }
}
