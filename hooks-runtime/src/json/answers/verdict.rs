//! Verdicts: `{"verdict": "pass"}` and its like.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IntoDeserializer, Visitor};
use serde_json::{Value, json};

use super::{absent, present};
use crate::model::Verdict;

/// A verdict, as a handler answers it.
#[derive(Deserialize)]
#[serde(try_from = "Wire<P, R>", bound = "P: Deserialize<'de>, R: Deserialize<'de>")]
pub(in crate::json) struct VerdictAnswer<P, R>(pub(in crate::json) Verdict<P, R>);

pub(in crate::json) fn verdict_json(verdict: Verdict<Value>) -> Value {
    match verdict {
        Verdict::Pass => json!({"verdict": "pass"}),
        Verdict::Replace(payload) => json!({"verdict": "replace", "payload": payload}),
        Verdict::Reject(reason) => json!({"verdict": "reject", "reason": reason}),
    }
}

/// All three at once, as the wire could spell them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Deserialize<'de>, R: Deserialize<'de>")]
struct Wire<P, R> {
    verdict: Word,
    #[serde(default = "absent", deserialize_with = "present")]
    payload: Option<P>,
    #[serde(default = "absent", deserialize_with = "reason")]
    reason: Option<R>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Pass,
    Replace,
    Reject,
}

/// `null` is the reason whose type has that form, and no reason of any other type.
fn reason<'de, R: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<R>, D::Error> {
    from.deserialize_option(ReasonVisitor(PhantomData))
}

struct ReasonVisitor<R>(PhantomData<R>);

impl<'de, R: Deserialize<'de>> Visitor<'de> for ReasonVisitor<R> {
    type Value = Option<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reason")
    }

    fn visit_unit<E: Error>(self) -> Result<Option<R>, E> {
        Ok(R::deserialize(IntoDeserializer::<E>::into_deserializer(())).ok())
    }

    fn visit_none<E: Error>(self) -> Result<Option<R>, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<R>, D::Error> {
        R::deserialize(from).map(Some)
    }
}

#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error("`pass` stands alone")]
    Pass,
    #[error("`replace` needs `payload`, and nothing else")]
    Replace,
    #[error("`reject` needs `reason`, and nothing else")]
    Reject,
}

impl<P, R> TryFrom<Wire<P, R>> for VerdictAnswer<P, R> {
    type Error = Malformed;

    fn try_from(wire: Wire<P, R>) -> Result<Self, Malformed> {
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
