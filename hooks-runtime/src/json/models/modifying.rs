//! Modifying by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::engine::raw::HookContext;
use crate::error::BoxError;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::Outcome;
use crate::model::{DroppedByField, Merge, Modifying};
use crate::point::HookPoint;

impl<P> JsonModel<P> for Modifying
where
    P: HookPoint<Model = Self>,
    P::Result: Merge + Serialize + DeserializeOwned,
{
    fn merged(cx: &HookContext) -> Result<Value, BoxError> {
        Ok(cx.merged::<P>().map_or(Ok(Value::Null), serde_json::to_value)?)
    }

    fn answer(answer: Value) -> Result<Option<P::Result>, BoxError> {
        match answer {
            Value::Null => Ok(None),
            answer => decode::answer::<P, _>(answer).map(Some),
        }
    }

    #[cfg(feature = "record")]
    fn written(result: &Option<P::Result>) -> serde_json::Result<Value> {
        serde_json::to_value(result)
    }

    fn outcome(merged: P::Result) -> Result<Outcome, JsonError> {
        decode::outcome::<P, _>(DroppedByField(merged)).map(Outcome::Result)
    }
}
