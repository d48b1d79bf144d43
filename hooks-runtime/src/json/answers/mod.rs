//! What handlers answer, in JSON: one file for each model that has a form of
//! its own.

mod claim;
mod stage;
mod verdict;

#[cfg(feature = "record")]
pub(super) use claim::is_object;
pub(super) use claim::{ClaimAnswer, claim_json};
pub(super) use stage::StageAnswer;
pub(super) use verdict::{VerdictAnswer, verdict_json};

use serde::{Deserialize, Deserializer};

pub(super) fn absent<T>() -> Option<T> {
    None
}

/// A value that is there may itself be `null`, which is not the same as absent.
pub(super) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}
