//! Claims on the wire.

use std::{fmt, marker::PhantomData};

use hooks_runtime::Claim;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor, value::MapDeserializer},
};
use serde_json::Value;

/// A claim or the lack of one, as the wire spells it: `{"handled": true}` with
/// the fields of the claim beside it, or `{"handled": false}` alone.
///
/// Reading is strict, because a claim that was garbled must not pass for the
/// absence of one: `handled` has to be there, a claim has to be whole, and
/// beside `"handled": false` nothing else may stand.
///
/// ```
/// use hooks_points::{ClaimWire, CompletionRejected};
///
/// let claimed = ClaimWire(Some(CompletionRejected::new("no tests")?));
/// let text = serde_json::to_string(&claimed)?;
/// assert_eq!(text, r#"{"handled":true,"reason":"no tests"}"#);
///
/// let read: ClaimWire<CompletionRejected> = serde_json::from_str(r#"{"handled":false}"#)?;
/// assert_eq!(read.0, None);
///
/// let no_reason = serde_json::from_str::<ClaimWire<CompletionRejected>>(r#"{"handled":true}"#);
/// assert!(no_reason.is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The claim itself has to be a struct or a map, without a `handled` of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClaimWire<T>(
    /// The claim, if there is one.
    pub Option<T>,
);

impl<T> From<Option<T>> for ClaimWire<T> {
    fn from(claim: Option<T>) -> Self {
        Self(claim)
    }
}

impl<T> From<Claim<T>> for ClaimWire<T> {
    fn from(claim: Claim<T>) -> Self {
        Self(claim.claimed())
    }
}

impl<T> From<ClaimWire<T>> for Option<T> {
    fn from(wire: ClaimWire<T>) -> Self {
        wire.0
    }
}

impl<T: Serialize> Serialize for ClaimWire<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a, T> {
            handled: bool,
            #[serde(flatten)]
            claim: Option<&'a T>,
        }

        Fields { handled: self.0.is_some(), claim: self.0.as_ref() }.serialize(serializer)
    }
}

// By hand, because serde's `flatten` gives up refusing unknown keys.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for ClaimWire<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ClaimVisitor(PhantomData))
    }
}

struct ClaimVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ClaimVisitor<T> {
    type Value = ClaimWire<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `handled` and, when it is true, the fields of the claim")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut handled: Option<bool> = None;
        let mut fields: Vec<(String, Value)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key != "handled" {
                fields.push((key, map.next_value()?));
            } else if handled.replace(map.next_value()?).is_some() {
                return Err(A::Error::duplicate_field("handled"));
            }
        }

        if handled.ok_or_else(|| A::Error::missing_field("handled"))? {
            // Repeated keys are passed on as they came: the claim refuses them.
            T::deserialize(MapDeserializer::new(fields.into_iter()))
                .map(|claim| ClaimWire(Some(claim)))
                .map_err(|error: serde_json::Error| A::Error::custom(error))
        } else if let Some((key, _)) = fields.first() {
            Err(A::Error::custom(format_args!("`{key}` cannot stand beside `handled: false`")))
        } else {
            Ok(ClaimWire(None))
        }
    }
}
