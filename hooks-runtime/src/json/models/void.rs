//! Void by name.

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
use crate::json::handler::JsonHandler;
use crate::json::outcome::Outcome;
use crate::json::point::{
    Boxed, ByName, FireOutcome, FiredByName, JsonModel, JsonPoint, Named, with_payload,
};
use crate::model::Void;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

impl<P> JsonModel<P> for Void
where
    P: HookPoint<Model = Void>,
    P::Payload: Serialize + DeserializeOwned,
{
    fn point() -> JsonPoint {
        JsonPoint(ByName::Fired(const { &Told(Named::<P>(PhantomData)) }))
    }
}

struct Told<N>(N);

impl<P> FiredByName for Told<Named<P>>
where
    P: HookPoint<Model = Void>,
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
                let (outcome, report) = if reported {
                    let (outcome, report) = hooks.fire_void_reported::<P>(&payload).await;
                    (outcome, Some(report))
                } else {
                    (hooks.fire_void::<P>(&payload).await, None)
                };
                (outcome.map(|()| Outcome::Told).map_err(Into::into), report)
            })
        })
    }

    fn register(&self, options: Options, handler: JsonHandler) -> Registration {
        On::<P>::with_options(options).handler_with::<_, StateAsync1>(handler, tell::<P>)
    }
}

async fn tell<P>(handler: &JsonHandler, payload: &P::Payload) -> Result<(), BoxError>
where
    P: HookPoint<Model = Void>,
    P::Payload: Serialize,
{
    match handler.ask(payload).await? {
        Value::Null => Ok(()),
        // The author of an answer here expects it to have an effect.
        answer => Ok(decode::value(P::NAME, "the answer", answer)?),
    }
}
