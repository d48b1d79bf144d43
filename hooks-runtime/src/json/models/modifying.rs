//! Modifying by name.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::BoxError;
use crate::handler::forms::StateAsync1;
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::handler::JsonHandler;
use crate::json::outcome::Outcome;
use crate::json::point::{
    Boxed, ByName, FireOutcome, FiredByName, JsonModel, JsonPoint, Named, with_payload,
};
use crate::model::{Merge, Modifying};
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

impl<P> JsonModel<P> for Modifying
where
    P: HookPoint<Model = Modifying>,
    P::Payload: Serialize + DeserializeOwned,
    P::Result: Merge + Serialize + DeserializeOwned,
{
    fn point() -> JsonPoint {
        JsonPoint(ByName::Fired(const { &Amended(Named::<P>(PhantomData)) }))
    }
}

struct Amended<N>(N);

impl<P> FiredByName for Amended<Named<P>>
where
    P: HookPoint<Model = Modifying>,
    P::Payload: Serialize + DeserializeOwned,
    P::Result: Merge + Serialize + DeserializeOwned,
{
    fn fire<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        reported: bool,
    ) -> Boxed<'a, FireOutcome> {
        with_payload::<P, _, _>(text, |payload| {
            Box::pin(async move {
                let (merged, report) = if reported {
                    let (merged, report) = hooks.fire_modifying_reported::<P>(&payload).await;
                    (merged, Some(report))
                } else {
                    (hooks.fire_modifying::<P>(&payload).await, None)
                };
                let outcome = merged
                    .map_err(JsonError::from)
                    .and_then(|merged| decode::outcome(P::NAME, &merged));
                (outcome.map(Outcome::Amended), report)
            })
        })
    }

    fn register(&self, options: Options, handler: JsonHandler) -> Registration {
        On::<P>::with_options(options).handler_with::<_, StateAsync1>(handler, amend::<P>)
    }
}

async fn amend<P>(
    handler: &JsonHandler,
    payload: &P::Payload,
) -> Result<Option<P::Result>, BoxError>
where
    P: HookPoint<Model = Modifying>,
    P::Payload: Serialize,
    P::Result: DeserializeOwned,
{
    match handler.ask(payload).await? {
        Value::Null => Ok(None),
        answer => Ok(Some(decode::value(P::NAME, "the answer", answer)?)),
    }
}
