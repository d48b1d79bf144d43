//! The outcome of a fire by name.

use serde_json::{Value, json};

use crate::model::{Claim, Gate, Rejection};

/// The outcome of a fire by name.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a rejection, a claim or a change that is not looked at is lost"]
#[non_exhaustive]
pub enum Outcome {
    /// A void point: its handlers were called.
    Notified,
    /// A modifying point: the merged result.
    Result(Value),
    /// A claiming point: the claim as handlers answer it, or none.
    Claim(Claim<Value>),
    /// A gating point: the final payload, or the rejection: by which handler, and
    /// why.
    Gate(Gate<Value>),
}

impl Outcome {
    /// The outcome in one document, for those that only pass it on.
    ///
    /// `null` for a void point; the result of a modifying one; `{"handled":
    /// true, …}` or `{"handled": false}` of a claiming one; of a gating one
    /// `{"verdict": "passed", "payload": …}` or `{"verdict": "rejected",
    /// "reason": …, "handler": …, "owner": …}`.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Notified => Value::Null,
            Self::Result(result) => result.clone(),
            Self::Claim(Claim::Claimed(claim)) => claim.clone(),
            Self::Claim(Claim::Unclaimed) => json!({"handled": false}),
            Self::Gate(Gate::Passed(payload)) => json!({"verdict": "passed", "payload": payload}),
            Self::Gate(Gate::Rejected(rejection)) => rejected(rejection),
        }
    }
}

fn rejected(rejection: &Rejection) -> Value {
    json!({
        "verdict": "rejected",
        "reason": rejection.reason(),
        "handler": rejection.handler(),
        "owner": rejection.owner(),
    })
}
