//! Fills in for what a broken declaration left out, so that the point's types
//! exist and uses of them add no errors of their own.

use super::model::{Model, Shape};
use crate::suggest;

/// The model that was most likely meant: the nearest word, else the one that
/// the shape of the declaration fits.
pub(crate) fn model(word: Option<&str>, has_result: bool) -> Model {
    word.and_then(|word| suggest::closest(word, &Model::WORDS))
        .and_then(Model::from_word)
        .unwrap_or(if has_result { Model::Modifying } else { Model::Void })
}

/// An empty payload: its name is what other code most likely mentions.
pub(crate) fn payload() -> Shape {
    Shape::Fields(Vec::new())
}

/// An empty result.
pub(crate) fn result() -> Shape {
    Shape::Fields(Vec::new())
}
