//! What a point of a catalogue has only where its types do: JSON and a schema.
//!
//! The macro judges each type where it is named ([`in_json`], [`in_schema`]). The
//! point itself is asked in a way that goes without what is missing, so that one
//! type is one error.

use std::marker::PhantomData;

use super::PointInfo;
#[cfg(feature = "json")]
use crate::json::{JsonModel, JsonPoint};
#[cfg(feature = "json")]
use crate::{flow::FlowPoint, point::HookPoint};

/// A type that goes over the wire.
#[cfg(feature = "serde")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON, but its block says `json`",
    label = "not `Serialize` and `Deserialize`",
    note = "add `#[derive(serde::Serialize, serde::Deserialize)]` to `{Self}`, or take `json` off \
            the head of the block"
)]
pub trait InJson {}

#[cfg(feature = "serde")]
#[diagnostic::do_not_recommend]
impl<T: serde::Serialize + serde::de::DeserializeOwned> InJson for T {}

/// Says that `T` goes over the wire.
#[cfg(feature = "serde")]
pub const fn in_json<T: InJson>() {}

/// A type that has a JSON Schema.
#[cfg(feature = "schema")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema, but its block says `schema`",
    label = "not `JsonSchema`",
    note = "add `#[derive(schemars::JsonSchema)]` to `{Self}`, or take `schema` off the head of \
            the block"
)]
pub trait InSchema {}

#[cfg(feature = "schema")]
#[diagnostic::do_not_recommend]
impl<T: schemars::JsonSchema> InSchema for T {}

/// Says that `T` has a JSON Schema.
#[cfg(feature = "schema")]
pub const fn in_schema<T: InSchema>() {}

/// Asks what `P` has: a method of [`Without`] needs one more reference than the
/// others, so the compiler takes it only where there is no other.
#[derive(Debug)]
pub struct Of<P>(PhantomData<fn() -> P>);

impl<P: 'static> Of<P> {
    /// The question.
    pub const ASK: &'static Self = &Self(PhantomData);
}

/// A point that is fired by name.
pub trait WithJson {
    /// Makes it so.
    fn __json(&self, point: PointInfo) -> PointInfo;
}

#[cfg(feature = "json")]
impl<P> WithJson for Of<P>
where
    P: HookPoint<Model: JsonModel<P>>,
    P::Payload: serde::Serialize + serde::de::DeserializeOwned,
{
    fn __json(&self, mut point: PointInfo) -> PointInfo {
        point.json = Some(JsonPoint::fired::<P>());
        point
    }
}

/// A flow that is run by name.
pub trait WithJsonFlow {
    /// Makes it so.
    fn __json_flow(&self, point: PointInfo) -> PointInfo;
}

#[cfg(feature = "json")]
impl<F: FlowPoint> WithJsonFlow for Of<F>
where
    F::Payload: serde::Serialize + serde::de::DeserializeOwned,
    F::Result: serde::Serialize + serde::de::DeserializeOwned,
{
    fn __json_flow(&self, mut point: PointInfo) -> PointInfo {
        point.json = Some(JsonPoint::run::<F>());
        point
    }
}

/// A point with schemas.
pub trait WithSchema {
    /// Makes it so.
    fn __schema(&self, point: PointInfo) -> PointInfo;
}

#[cfg(feature = "schema")]
impl<P: HookPoint> WithSchema for Of<P>
where
    P::Payload: schemars::JsonSchema,
    P::Result: schemars::JsonSchema,
{
    fn __schema(&self, mut point: PointInfo) -> PointInfo {
        point.payload.schema = Some(super::schema::of::<P::Payload>);
        if let Some(result) = &mut point.result {
            result.schema = Some(super::schema::of::<P::Result>);
        }
        point
    }
}

/// A point without.
pub trait Without {
    /// Leaves it so.
    fn __json(&self, point: PointInfo) -> PointInfo {
        point
    }

    /// Leaves it so.
    fn __json_flow(&self, point: PointInfo) -> PointInfo {
        point
    }

    /// Leaves it so.
    fn __schema(&self, point: PointInfo) -> PointInfo {
        point
    }
}

impl<P> Without for &Of<P> {}
