//! The models by name. Each is one file of the same shape: what a handler that
//! speaks JSON answers, and what a fire comes to.

mod claiming;
mod flow;
mod gating;
mod modifying;
mod stage;
mod void;
#[cfg(sixth_model)]
mod voting;

use serde_json::Value;

use super::error::JsonError;
use super::outcome::Outcome;
use crate::engine::raw::HookContext;
use crate::error::BoxError;
use crate::handler::annotated::SharedReference;
use crate::model::Model;
use crate::model::compose::{Begin, FireResult};
use crate::point::HookPoint;

/// A model whose points can be fired by name.
#[diagnostic::on_unimplemented(
    message = "`{P}` cannot be fired with JSON",
    note = "in a block with `json` all payloads and results implement `Serialize` and \
            `DeserializeOwned`"
)]
pub trait JsonModel<P: HookPoint<Model = Self>>:
    Begin<P> + for<'a> Model<Input<'a, P>: SharedReference<'a, P::Payload>>
{
    /// What a fire has merged so far, for a handler that asks.
    fn merged(_: &HookContext) -> Result<Value, BoxError> {
        Ok(Value::Null)
    }

    /// Reads the answer of a handler.
    fn answer(answer: Value) -> Result<Self::Output<P>, BoxError>;

    /// Writes what a handler answered, as one that speaks JSON would.
    #[cfg(feature = "record")]
    fn written(answer: &Self::Output<P>) -> serde_json::Result<Value>;

    /// Writes the outcome of a fire.
    fn outcome(outcome: FireResult<Self, P>) -> Result<Outcome, JsonError>;
}
