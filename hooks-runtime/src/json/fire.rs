//! How the points of all models are fired and handled by name.

#[cfg(feature = "record")]
use std::any::{Any, TypeId};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::JsonError;
use super::handler::JsonHandler;
use super::models::JsonModel;
use super::point::{Boxed, ErasedPoint, FireOutcome, FiredByName, payload_of, with_payload};
use crate::engine::raw::HookContext;
use crate::handler::annotated::{Answer, HandlerInput, Plain};
use crate::handler::forms::{Sent, StateAnnotatedAsync2};
use crate::handler::on::On;
use crate::handler::options::Options;
use crate::handler::registration::Registration;
#[cfg(feature = "record")]
use crate::model::Model;
use crate::operator::trace::Payload;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;

impl<P> FiredByName for ErasedPoint<P>
where
    P: HookPoint<Model: JsonModel<P>>,
    P::Payload: Serialize + DeserializeOwned,
{
    fn fire<'a>(
        &self,
        hooks: &'a ScopedHooks,
        text: &'a [u8],
        reported: bool,
    ) -> Boxed<'a, FireOutcome> {
        with_payload::<P, _, _>(text, move |payload| {
            Box::pin(async move {
                let fired = hooks.fire_made_reported::<P::Model, P>(payload, reported);
                let (outcome, report) = fired.await;
                (outcome.map_err(JsonError::from).and_then(P::Model::outcome), report)
            })
        })
    }

    fn register(&self, options: Box<Options>, handler: JsonHandler) -> Registration {
        On::<P>::with_options(options).finish(StateAnnotatedAsync2::handler(ask::<P>, handler))
    }

    fn payload(&self, payload: &mut Payload<'_>) -> Option<Result<Value, String>> {
        payload_of::<P>(payload)
    }

    #[cfg(feature = "record")]
    fn answer(&self, point: TypeId, answer: &dyn Any) -> Option<Result<Value, String>> {
        if point != TypeId::of::<P>() {
            return None;
        }
        let answer = answer.downcast_ref::<<P::Model as Model>::Output<P>>()?;
        Some(P::Model::written(answer).map_err(|error| error.to_string()))
    }
}

async fn ask<P>(
    handler: &JsonHandler,
    input: HandlerInput<'_, P::Model, P>,
    cx: &HookContext,
) -> Answer<P, Plain>
where
    P: HookPoint<Model: JsonModel<P>>,
    P::Payload: Serialize,
{
    let (payload, _) = input.open();
    let answer = handler.ask(payload.payload(), cx, P::Model::merged).await;
    Answer::new(answer.and_then(P::Model::answer))
}
