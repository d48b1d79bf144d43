//! Claims: `{"handled": true, …}` or `{"handled": false}`.
//!
//! The fields of a claim stand beside `handled`. A claim that is no object, such
//! as a name, stands in `claim`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use serde_json::{Value, json};

/// A claim or the lack of one, as a handler answers it.
///
/// Read strictly, because a claim that was garbled must not pass for the
/// absence of one.
pub(in crate::json) struct ClaimAnswer<T>(pub(in crate::json) Option<T>);

impl<T: Serialize + DeserializeOwned> Serialize for ClaimAnswer<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let claim = self.0.as_ref().map(serde_json::to_value).transpose();
        claim_json(claim.map_err(S::Error::custom)?, is_object::<T>()).serialize(to)
    }
}

/// A claim that is written already.
pub(in crate::json) fn claim_json(claim: Option<Value>, is_object: bool) -> Value {
    match claim {
        None => json!({"handled": false}),
        Some(Value::Object(mut fields)) if is_object => {
            fields.insert("handled".to_owned(), Value::Bool(true));
            Value::Object(fields)
        }
        Some(claim) => json!({"handled": true, "claim": claim}),
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ClaimAnswer<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ClaimVisitor(PhantomData))
    }
}

struct ClaimVisitor<T>(PhantomData<T>);

/// A claim that is no object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Alone<T> {
    claim: T,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ClaimVisitor<T> {
    type Value = ClaimAnswer<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `handled` and, when it is true, the fields of the claim")
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        let mut beside = Beside { entries, handled: None, other: None, ended: false };
        let claim = if is_object::<T>() {
            T::deserialize(&mut beside)
        } else {
            Alone::deserialize(&mut beside).map(|alone| alone.claim)
        };
        match beside {
            Beside { handled: Some(true), .. } => claim.map(Some).map(ClaimAnswer),
            Beside { handled: Some(false), other: Some(key), .. } => {
                Err(A::Error::custom(format_args!("`{key}` cannot stand beside `handled: false`")))
            }
            Beside { handled: Some(false), .. } => Ok(ClaimAnswer(None)),
            Beside { handled: None, ended, .. } => match claim {
                // What went wrong before the end is what is wrong.
                Err(error) if !ended => Err(error),
                _ => Err(A::Error::missing_field("handled")),
            },
        }
    }
}

/// The object without `handled`, which is kept aside.
struct Beside<A> {
    entries: A,
    handled: Option<bool>,
    /// The first key that is another.
    other: Option<String>,
    ended: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for &mut Beside<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        while let Some(key) = self.entries.next_key::<String>()? {
            if key == "handled" {
                self.handled = Some(self.entries.next_value()?);
                continue;
            }
            self.other.get_or_insert_with(|| key.clone());
            return seed.deserialize(serde::de::value::StringDeserializer::new(key)).map(Some);
        }
        self.ended = true;
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.entries.next_value_seed(seed)
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for &mut Beside<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Whether a `T` is read from an object: found out from the first request that its
/// `Deserialize` makes.
pub(in crate::json) fn is_object<'de, T: Deserialize<'de>>() -> bool {
    matches!(T::deserialize(Asked), Err(Question::Object))
}

struct Asked;

#[derive(Debug)]
enum Question {
    Object,
    Other,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only asked")
    }
}

impl std::error::Error for Question {}

impl Error for Question {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Other
    }
}

impl<'de> Deserializer<'de> for Asked {
    type Error = Question;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Question> {
        Err(Question::Other)
    }

    fn deserialize_map<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Question> {
        Err(Question::Object)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Question> {
        Err(Question::Object)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Question> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct enum identifier ignored_any
    }
}
