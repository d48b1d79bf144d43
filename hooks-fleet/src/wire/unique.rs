//! JSON in which no object names a key twice.
//!
//! Of two values of one key one reader takes the first and another the last, so that one may
//! judge what the other does not do.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

const TWICE: &str = "an object names a key twice";

/// Reads a value; for fields of the messages of this contract.
pub(super) fn value<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    Unique::deserialize(from).map(|Unique(value)| value)
}

/// The same, for a field that may be missing.
pub(super) fn some<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    value(from).map(Some)
}

/// The same for values by names.
pub(super) fn map<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Value>, D::Error> {
    match value(from)? {
        Value::Object(entries) => Ok(entries.into_iter().collect()),
        _ => Err(D::Error::custom("they are no object")),
    }
}

/// The same as text that is not read yet.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<&'de RawValue, D::Error> {
    let text = <&RawValue>::deserialize(from)?;
    let Checked = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
    Ok(text)
}

/// What is checked and not kept.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(CheckedVisitor)
    }
}

struct CheckedVisitor;

macro_rules! passes {
    ($($visit:ident: $ty:ty),*) => {$(
        fn $visit<E: Error>(self, _: $ty) -> Result<Checked, E> {
            Ok(Checked)
        }
    )*};
}

impl<'de> Visitor<'de> for CheckedVisitor {
    type Value = Checked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    passes!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: Error>(self) -> Result<Checked, E> {
        Ok(Checked)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Checked, A::Error> {
        while let Some(Checked) = items.next_element()? {}
        Ok(Checked)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Checked, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(Key(key)) = entries.next_key()? {
            if !keys.insert(key) {
                return Err(A::Error::custom(TWICE));
            }
            let Checked = entries.next_value()?;
        }
        Ok(Checked)
    }
}

/// A key, as it is read, without its escapes.
#[derive(PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("it is no number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let Unique(value) = entries.next_value()?;
            if map.insert(key, value).is_some() {
                return Err(A::Error::custom(TWICE));
            }
        }
        Ok(Value::Object(map))
    }
}
