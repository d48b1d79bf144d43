//! Void by name.

use serde_json::Value;

use crate::error::BoxError;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::Outcome;
use crate::model::Void;
use crate::point::HookPoint;

impl<P: HookPoint<Model = Self>> JsonModel<P> for Void {
    fn answer(answer: Value) -> Result<(), BoxError> {
        match answer {
            Value::Null => Ok(()),
            // The author of an answer here expects it to have an effect.
            answer => decode::answer::<P, _>(answer),
        }
    }

    #[cfg(feature = "record")]
    fn written((): &()) -> serde_json::Result<Value> {
        Ok(Value::Null)
    }

    fn outcome((): ()) -> Result<Outcome, JsonError> {
        Ok(Outcome::Notified)
    }
}
