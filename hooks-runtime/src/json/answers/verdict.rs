//! Verdicts: `{"verdict": "pass"}` and its like.

use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::{absent, present};
use crate::model::Verdict;

/// A verdict, as a handler answers it.
#[derive(Deserialize)]
#[serde(try_from = "Wire<P>", bound = "P: Deserialize<'de>")]
pub(in crate::json) struct VerdictAnswer<P>(pub(in crate::json) Verdict<P>);

pub(in crate::json) fn verdict_json(verdict: Verdict<Value>) -> Value {
    match verdict {
        Verdict::Pass => json!({"verdict": "pass"}),
        Verdict::Replace(payload) => json!({"verdict": "replace", "payload": payload}),
        Verdict::Reject(reason) => json!({"verdict": "reject", "reason": reason}),
    }
}

/// All three at once, as the wire could spell them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Deserialize<'de>")]
struct Wire<P> {
    verdict: Word,
    #[serde(default = "absent", deserialize_with = "present")]
    payload: Option<P>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Pass,
    Replace,
    Reject,
}

#[derive(Debug, Error)]
enum Malformed {
    #[error("`pass` stands alone")]
    Pass,
    #[error("`replace` needs `payload`, and nothing else")]
    Replace,
    #[error("`reject` needs `reason`, and nothing else")]
    Reject,
}

impl<P> TryFrom<Wire<P>> for VerdictAnswer<P> {
    type Error = Malformed;

    fn try_from(wire: Wire<P>) -> Result<Self, Malformed> {
        match (wire.verdict, wire.payload, wire.reason) {
            (Word::Pass, None, None) => Ok(Self(Verdict::Pass)),
            (Word::Replace, Some(payload), None) => Ok(Self(Verdict::Replace(payload))),
            (Word::Reject, None, Some(reason)) => Ok(Self(Verdict::Reject(reason))),
            (Word::Pass, ..) => Err(Malformed::Pass),
            (Word::Replace, ..) => Err(Malformed::Replace),
            (Word::Reject, ..) => Err(Malformed::Reject),
        }
    }
}
