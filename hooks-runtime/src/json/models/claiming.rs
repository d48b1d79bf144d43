//! Claiming by name.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::BoxError;
use crate::handler::forms::StateAsync1;
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::json::answers::ClaimAnswer;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::handler::JsonHandler;
use crate::json::outcome::Outcome;
use crate::json::point::{
    Boxed, ByName, FireOutcome, FiredByName, JsonModel, JsonPoint, Named, with_payload,
};
use crate::model::{Claim, Claiming};
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

impl<P> JsonModel<P> for Claiming
where
    P: HookPoint<Model = Claiming>,
    P::Payload: Serialize + DeserializeOwned,
    P::Result: Serialize + DeserializeOwned,
{
    fn point() -> JsonPoint {
        JsonPoint(ByName::Fired(const { &Asked(Named::<P>(PhantomData)) }))
    }
}

struct Asked<N>(N);

impl<P> FiredByName for Asked<Named<P>>
where
    P: HookPoint<Model = Claiming>,
    P::Payload: Serialize + DeserializeOwned,
    P::Result: Serialize + DeserializeOwned,
{
    fn fire<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        reported: bool,
    ) -> Boxed<'a, FireOutcome> {
        with_payload::<P, _, _>(text, |payload| {
            Box::pin(async move {
                let (claim, report) = if reported {
                    let (claim, report) = hooks.fire_claiming_reported::<P>(&payload).await;
                    (claim, Some(report))
                } else {
                    (hooks.fire_claiming::<P>(&payload).await, None)
                };
                (claim.map_err(JsonError::from).and_then(outcome::<P>), report)
            })
        })
    }

    fn register(&self, options: Options, handler: JsonHandler) -> Registration {
        On::<P>::with_options(options).handler_with::<_, StateAsync1>(handler, ask::<P>)
    }
}

fn outcome<P>(claim: Claim<P::Result>) -> Result<Outcome, JsonError>
where
    P: HookPoint,
    P::Result: Serialize + DeserializeOwned,
{
    let Claim::Claimed(claim) = claim else { return Ok(Outcome::Claim(Claim::Unclaimed)) };
    let written = ClaimAnswer(Some(claim)).to_json();
    let claim = written.map_err(|error| decode::unwritable(P::NAME, &error))?;
    Ok(Outcome::Claim(Claim::Claimed(claim)))
}

async fn ask<P>(handler: &JsonHandler, payload: &P::Payload) -> Result<Option<P::Result>, BoxError>
where
    P: HookPoint<Model = Claiming>,
    P::Payload: Serialize,
    P::Result: DeserializeOwned,
{
    let answer = handler.ask(payload).await?;
    let ClaimAnswer(claim) = decode::value(P::NAME, "the answer", answer)?;
    Ok(claim)
}
