//! Claiming by name.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::BoxError;
use crate::json::answers::ClaimAnswer;
#[cfg(feature = "record")]
use crate::json::answers::{claim_json, is_object};
use crate::json::decode;
use crate::json::error::JsonError;
use crate::json::models::JsonModel;
use crate::json::outcome::Outcome;
use crate::model::{Claim, Claiming};
use crate::point::HookPoint;

impl<P> JsonModel<P> for Claiming
where
    P: HookPoint<Model = Self>,
    P::Result: Serialize + DeserializeOwned,
{
    fn answer(answer: Value) -> Result<Option<P::Result>, BoxError> {
        decode::answer::<P, _>(answer).map(|ClaimAnswer(claim)| claim)
    }

    #[cfg(feature = "record")]
    fn written(claim: &Option<P::Result>) -> serde_json::Result<Value> {
        let claim = claim.as_ref().map(serde_json::to_value).transpose()?;
        Ok(claim_json(claim, is_object::<P::Result>()))
    }

    fn outcome(claim: Claim<P::Result>) -> Result<Outcome, JsonError> {
        Ok(Outcome::Claim(match claim {
            Claim::Claimed(claim) => {
                Claim::Claimed(decode::outcome::<P, _>(ClaimAnswer(Some(claim)))?)
            }
            Claim::Unclaimed => Claim::Unclaimed,
        }))
    }
}
