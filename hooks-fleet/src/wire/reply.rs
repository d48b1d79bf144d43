//! What the process that serves answers.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::header;

/// The answer to a [`Request`](super::Request).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// The version of the contract: 1.
    pub v: u32,
    /// That of the request.
    pub call: String,
    /// That of the request.
    pub attempt: u32,
    /// The instance of the service that answers, as it was announced.
    pub instance: String,
    /// That of the request: what the answer was written for.
    pub schema: String,
    /// How long the handler took, in microseconds.
    #[serde(default)]
    pub took_us: u64,
    /// What came of it.
    pub outcome: ReplyOutcome,
}

/// A reply as this crate writes and reads it, without copies of what others keep. Its fields
/// are those of [`Reply`], in their order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplyRef<'a> {
    pub(crate) v: u32,
    #[serde(borrow)]
    pub(crate) call: Cow<'a, str>,
    pub(crate) attempt: u32,
    #[serde(borrow)]
    pub(crate) instance: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) schema: Cow<'a, str>,
    #[serde(default)]
    pub(crate) took_us: u64,
    pub(crate) outcome: Cow<'a, ReplyOutcome>,
}

impl ReplyRef<'_> {
    /// Whether a header says what this does, where it is one that repeats it.
    pub(crate) fn agrees_with(&self, name: &str, value: &str) -> bool {
        match name {
            header::CALL => value == self.call,
            header::SCHEMA => value == self.schema,
            header::ATTEMPT => value == self.attempt.to_string(),
            _ => true,
        }
    }
}

/// What came of a call: three things that are never taken for each other. It decided, it had
/// no opinion, it failed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReplyOutcome {
    /// The handler answered; a rejection is an answer.
    Answer {
        /// What it answered, in the form of its model.
        answer: Value,
    },
    /// The handler was not called, for a reason that is its own: no opinion.
    Skipped {
        /// Why not.
        reason: SkippedReason,
    },
    /// The handler ran and failed.
    Failed {
        /// One word: `error`, `panic`, `timeout`, …
        cause: String,
        /// What it said.
        message: String,
    },
    /// The handler was not called, and nothing ran.
    Refused {
        /// Why not.
        why: RefusalReason,
        /// The same for people.
        message: String,
    },
}

/// An outcome as it is read, in one pass: what serde derives for an enum with a tag keeps all
/// fields until it knows the tag.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Fields {
    kind: Option<Kind>,
    #[serde(deserialize_with = "super::unique::some")]
    answer: Option<Value>,
    #[serde(deserialize_with = "present")]
    reason: Option<SkippedReason>,
    #[serde(deserialize_with = "present")]
    cause: Option<String>,
    #[serde(deserialize_with = "present")]
    message: Option<String>,
    #[serde(deserialize_with = "present")]
    why: Option<RefusalReason>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Answer,
    Skipped,
    Failed,
    Refused,
}

/// A field that is not `null` where it is there.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl<'de> Deserialize<'de> for ReplyOutcome {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(from)?;
        let kind = fields.kind.take().ok_or_else(|| D::Error::missing_field("kind"))?;
        let outcome = match kind {
            Kind::Answer => Self::Answer { answer: taken("answer", &mut fields.answer)? },
            Kind::Skipped => Self::Skipped { reason: taken("reason", &mut fields.reason)? },
            Kind::Failed => Self::Failed {
                cause: taken("cause", &mut fields.cause)?,
                message: taken("message", &mut fields.message)?,
            },
            Kind::Refused => Self::Refused {
                why: taken("why", &mut fields.why)?,
                message: taken("message", &mut fields.message)?,
            },
        };
        match fields.left() {
            None => Ok(outcome),
            Some(name) => Err(D::Error::custom(format_args!("`{name}` is of another outcome"))),
        }
    }
}

fn taken<T, E: Error>(name: &'static str, field: &mut Option<T>) -> Result<T, E> {
    field.take().ok_or_else(|| E::missing_field(name))
}

impl Fields {
    /// A field that was there and not asked for.
    fn left(&self) -> Option<&'static str> {
        let Self { kind: _, answer, reason, cause, message, why } = self;
        let all = [
            ("answer", answer.is_some()),
            ("reason", reason.is_some()),
            ("cause", cause.is_some()),
            ("message", message.is_some()),
            ("why", why.is_some()),
        ];
        all.into_iter().find(|(_, is_there)| *is_there).map(|(name, _)| name)
    }
}

/// Why a handler had no opinion without being called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkippedReason {
    /// Its condition was not met.
    Condition,
    /// It is called once, and was.
    Once,
    /// An operator of the serving process has disabled it.
    Disabled,
    /// An operator of the serving process has it called for a sample of fires.
    SampledOut,
    /// An operator of the serving process runs it in shadow.
    Shadow,
    /// It is bound to a target, and this call has none.
    Target,
}

impl SkippedReason {
    /// One word, as it is on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Once => "once",
            Self::Disabled => "disabled",
            Self::SampledOut => "sampled_out",
            Self::Shadow => "shadow",
            Self::Target => "target",
        }
    }
}

/// Why a process refused a call before anything ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalReason {
    /// No time was left.
    Expired,
    /// The payload was written for another schema.
    Incompatible,
    /// As many calls as it takes are under way.
    Overloaded,
    /// It is about to leave.
    Draining,
    /// It has no such handler.
    UnknownHandler,
    /// The request cannot be read, or contradicts its headers.
    Malformed,
    /// Fires are nested too deep.
    TooDeep,
}

impl RefusalReason {
    /// One word, as it is on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Incompatible => "incompatible",
            Self::Overloaded => "overloaded",
            Self::Draining => "draining",
            Self::UnknownHandler => "unknown_handler",
            Self::Malformed => "malformed",
            Self::TooDeep => "too_deep",
        }
    }

    /// Whether another attempt may fare better: another instance, or a moment later.
    pub fn is_passing(self) -> bool {
        matches!(self, Self::Overloaded | Self::Draining)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::{Reply, ReplyOutcome, ReplyRef};
    use crate::wire;

    #[test]
    fn what_is_written_is_a_reply() {
        let outcome = ReplyOutcome::Answer { answer: json!({"verdict": "pass"}) };
        let replying = ReplyRef {
            v: wire::VERSION,
            call: "kq2x-17".into(),
            attempt: 1,
            instance: "aqx7".into(),
            schema: "5f0c".into(),
            took_us: 120,
            outcome: Cow::Borrowed(&outcome),
        };
        let written = wire::write(&replying);
        let read: ReplyRef<'_> = wire::read(&written).unwrap();
        assert_eq!(wire::write(&read), written);
        let reply: Reply = serde_json::from_slice(&written).unwrap();
        assert_eq!((wire::write(&reply), reply.outcome), (written, outcome));
    }

    #[test]
    fn an_outcome_has_the_fields_of_its_kind_and_no_others() {
        for (text, expected) in [
            (r#"{"answer":1}"#, "missing field `kind`"),
            (r#"{"kind":"answer"}"#, "missing field `answer`"),
            (r#"{"kind":"failed","cause":"error"}"#, "missing field `message`"),
            (r#"{"kind":"answer","answer":1,"why":"expired"}"#, "`why` is of another outcome"),
            (r#"{"kind":"answer","answer":{"a":1,"a":2}}"#, "an object names a key twice"),
            (r#"{"kind":"answer","answer":1,"answer":2}"#, "duplicate field `answer`"),
            (r#"{"kind":"answer","answer":1,"other":1}"#, "unknown field `other`"),
            (r#"{"kind":"guessed"}"#, "unknown variant `guessed`"),
            (r#"{"kind":"skipped","reason":null}"#, "expected value"),
        ] {
            let error = serde_json::from_str::<ReplyOutcome>(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        // Fields have no order, and `null` is an answer.
        let nothing: ReplyOutcome =
            serde_json::from_str(r#"{"answer":null,"kind":"answer"}"#).unwrap();
        assert_eq!(nothing, ReplyOutcome::Answer { answer: serde_json::Value::Null });
    }
}
