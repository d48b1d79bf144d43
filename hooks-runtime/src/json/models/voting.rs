//! Voting by name: a handler answers `true` or `false`, a fire is a number.

use serde_json::Value;

use crate::error::BoxError;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::Outcome;
use crate::model::Voting;
use crate::point::HookPoint;

impl<P: HookPoint<Model = Self>> JsonModel<P> for Voting {
    fn answer(answer: Value) -> Result<bool, BoxError> {
        decode::answer::<P, _>(answer)
    }

    #[cfg(feature = "record")]
    fn written(vote: &bool) -> serde_json::Result<Value> {
        Ok(Value::Bool(*vote))
    }

    fn outcome(votes: usize) -> Result<Outcome, JsonError> {
        decode::outcome::<P, _>(votes).map(Outcome::Result)
    }
}
