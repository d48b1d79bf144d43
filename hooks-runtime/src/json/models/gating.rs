//! Gating by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::BoxError;
use crate::json::answers::VerdictAnswer;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::Outcome;
use crate::model::{Gate, Gating, Verdict};
use crate::point::HookPoint;

impl<P> JsonModel<P> for Gating
where
    P: HookPoint<Model = Self>,
    P::Payload: Serialize + DeserializeOwned,
{
    fn answer(answer: Value) -> Result<Verdict<P::Payload>, BoxError> {
        decode::answer::<P, _>(answer).map(|VerdictAnswer(verdict)| verdict)
    }

    fn outcome(gate: Gate<P::Payload>) -> Result<Outcome, JsonError> {
        Ok(Outcome::Gate(match gate {
            Gate::Passed(payload) => Gate::Passed(decode::outcome::<P, _>(payload)?),
            Gate::Rejected(rejection) => Gate::Rejected(rejection),
        }))
    }
}
