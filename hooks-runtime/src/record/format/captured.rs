//! A value as it was recorded, or why it was not.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A value as it was recorded, or why it was not: the payload of a fire, the answer of a
/// handler, the output of a flow's operation.
///
/// ```
/// use hooks_runtime::json::json;
/// use hooks_runtime::record::{Captured, NotCaptured};
///
/// let full = Captured::Full { value: json!({"to": "desk"}) };
/// assert_eq!(full.value(), Some(&json!({"to": "desk"})));
/// let none = Captured::Missing { why: NotCaptured::Policy };
/// assert_eq!((none.value(), none.missing()), (None, Some(&NotCaptured::Policy)));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Captured {
    /// As it was.
    Full {
        /// The value.
        value: Value,
    },
    /// As the redaction left it.
    Redacted {
        /// What is left of the value.
        value: Value,
    },
    /// By its [`digest`] alone.
    Hash {
        /// The digest.
        hash: String,
    },
    /// Not at all.
    Missing {
        /// Why.
        why: NotCaptured,
    },
}

/// Why a value was not recorded.
///
/// ```
/// use hooks_runtime::record::NotCaptured;
///
/// assert_eq!(
///     NotCaptured::Policy.to_string(),
///     "not captured: the point has no capture policy that allows it; `Recorder::capture` gives one",
/// );
/// let large = NotCaptured::TooLarge { bytes: 900, most: 100 };
/// assert_eq!(large.to_string(), "not captured: 900 bytes of JSON, more than 100");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum NotCaptured {
    /// The capture policy of its point does not allow it.
    #[error(
        "not captured: the point has no capture policy that allows it; `Recorder::capture` gives one"
    )]
    Policy,
    /// Its point is not in the catalogue of the recording, or not with JSON.
    #[error("not captured: no catalogue with JSON has the point; `Recorder::catalogue` gives one")]
    NoJson,
    /// It is longer than the recording allows.
    #[error("not captured: {bytes} bytes of JSON, more than {most}")]
    TooLarge {
        /// How long it is.
        bytes: u64,
        /// How long it may be.
        most: u64,
    },
    /// It has more values within each other than a reader of JSON takes.
    #[error("not captured: JSON within JSON, more than {most} times")]
    TooDeep {
        /// How deep values may be.
        most: u32,
    },
    /// It could not be made into JSON.
    #[error("not captured: it is no JSON: {problem}")]
    Failed {
        /// What serde said.
        problem: String,
    },
    /// The code that makes it into JSON, or that redacts it, panicked.
    #[error("not captured: a panic: {problem}")]
    Panicked {
        /// The message of the panic.
        problem: String,
    },
    /// It was not there to be read: a stage of a flow shares the context of its run.
    #[error("not captured: it is shared with others")]
    Shared,
}

impl Captured {
    /// The value, as far as it was recorded.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Self::Full { value } | Self::Redacted { value } => Some(value),
            Self::Hash { .. } | Self::Missing { .. } => None,
        }
    }

    /// Why there is nothing of it.
    pub fn missing(&self) -> Option<&NotCaptured> {
        match self {
            Self::Missing { why } => Some(why),
            _ => None,
        }
    }
}

/// The digest by which a value is recorded: SHA-256 of its JSON without spaces and with the
/// keys of each object in the order of their bytes, as 64 hexadecimal digits.
///
/// It tells whether two values are the same, and hides neither a value that can be guessed.
///
/// ```
/// use hooks_runtime::json::json;
/// use hooks_runtime::record::digest;
///
/// assert_eq!(digest(&json!({"a": 1, "b": [2]})), digest(&json!({"b": [2], "a": 1})));
/// assert_eq!(&digest(&json!(null))[..8], "74234e98");
/// ```
pub fn digest(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Whichever order `serde_json` keeps keys in, which another crate may change.
fn write_sorted(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_unstable_by_key(|(key, _)| *key);
            text.push('{');
            for (place, (key, value)) in keys.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                let _ = write!(text, "{}:", Value::String(key.clone()));
                write_sorted(value, text);
            }
            text.push('}');
        }
        Value::Array(values) => {
            text.push('[');
            for (place, value) in values.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                write_sorted(value, text);
            }
            text.push(']');
        }
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use serde_json::json;

    use super::Captured;

    /// L38: a number is read as it was written, to the last bit.
    #[test]
    fn l38_numbers_are_read_as_they_were_written() {
        let mut bits = 1_u64;
        for _ in 0..10_000 {
            bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            if f64::from_bits(bits).is_finite() {
                let captured = Captured::Full { value: json!(f64::from_bits(bits)) };
                let text = serde_json::to_string(&captured).unwrap();
                assert_eq!(serde_json::from_str::<Captured>(&text).unwrap(), captured);
            }
        }
    }
}
