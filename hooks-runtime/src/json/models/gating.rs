//! Gating by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
#[cfg(feature = "record")]
use serde_json::json;

use crate::engine::containment::shown_reason;
use crate::error::BoxError;
use crate::json::answers::VerdictAnswer;
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::{JsonReason, Outcome};
use crate::model::{Gate, Gating, Verdict};
use crate::point::HookPoint;

impl<P> JsonModel<P> for Gating
where
    P: HookPoint<Model = Self>,
    P::Payload: Serialize + DeserializeOwned,
    P::Result: Serialize + DeserializeOwned,
{
    fn answer(answer: Value) -> Result<Verdict<P::Payload, P::Result>, BoxError> {
        decode::answer::<P, _>(answer).map(|VerdictAnswer(verdict)| verdict)
    }

    #[cfg(feature = "record")]
    fn written(verdict: &Verdict<P::Payload, P::Result>) -> serde_json::Result<Value> {
        Ok(match verdict {
            Verdict::Pass => json!({"verdict": "pass"}),
            Verdict::Replace(payload) => {
                json!({"verdict": "replace", "payload": serde_json::to_value(payload)?})
            }
            Verdict::Reject(reason) => {
                json!({"verdict": "reject", "reason": serde_json::to_value(reason)?})
            }
        })
    }

    fn outcome(gate: Gate<P::Payload, P::Result>) -> Result<Outcome, JsonError> {
        Ok(Outcome::Gate(match gate {
            Gate::Passed(payload) => Gate::Passed(decode::outcome::<P, _>(payload)?),
            Gate::Rejected(rejection) => Gate::Rejected(rejection.try_map(|reason| {
                let text = shown_reason(P::displayed(&reason));
                decode::outcome::<P, _>(reason).map(|json| JsonReason { text, json })
            })?),
        }))
    }
}
