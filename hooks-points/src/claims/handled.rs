//! The claim that carries nothing.

use serde::{Deserialize, Serialize};

/// A claim with nothing more to say: the handler has taken care of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "NoFields", into = "NoFields")]
pub struct Handled;

/// An object without keys. A unit struct would be `null` on the wire, which
/// has no place for `handled`.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct NoFields {}

impl From<NoFields> for Handled {
    fn from(NoFields {}: NoFields) -> Self {
        Self
    }
}

impl From<Handled> for NoFields {
    fn from(Handled: Handled) -> Self {
        Self {}
    }
}
