//! The models. Each is one file of the same shape: the words that declare a point,
//! what stands behind its arrow, and an example of its use.

mod claiming;
mod flow;
mod gating;
mod modifying;
mod void;
#[cfg(sixth_model)]
mod voting;

use super::model::Point;

/// How the handlers of a point run and compose, as far as a declaration says it.
pub(crate) struct Model {
    /// The word that declares a point.
    pub(crate) word: &'static str,
    /// The name of the runtime's marker type.
    pub(crate) marker: &'static str,
    /// What stands behind the arrow.
    pub(crate) result: ResultRule,
    /// Whether its points are stages around an operation, with fixed policies.
    pub(crate) has_stages: bool,
    /// How to register and how to fire, given the name of the payload.
    pub(crate) example: fn(&Point, &str) -> [String; 2],
}

/// What stands behind the arrow of a declaration.
#[derive(Clone, Copy)]
pub(crate) enum ResultRule {
    /// Nothing. What the mistake is called, where something does.
    None(&'static str),
    /// A type, if the reason of a rejection is not text. What the mistake is
    /// called, where fields do.
    Reason(&'static str),
    /// A type, or fields.
    Plain,
    /// A type, or fields that handlers fill together.
    Merged,
}

/// All models, in the order in which messages list them.
const ALL: &[&Model] = &[
    &void::MODEL,
    &modifying::MODEL,
    &claiming::MODEL,
    &gating::MODEL,
    &flow::MODEL,
    #[cfg(sixth_model)]
    &voting::MODEL,
];

impl Model {
    /// The model that a word declares.
    pub(crate) fn from_word(word: &str) -> Option<&'static Self> {
        ALL.iter().copied().find(|model| model.word == word)
    }

    /// The words that declare a point, in the order in which messages list them.
    pub(crate) fn words() -> Vec<&'static str> {
        ALL.iter().map(|model| model.word).collect()
    }

    /// The model of a declaration that does not say it.
    pub(crate) fn fitting(has_result: bool) -> &'static Self {
        if has_result { &modifying::MODEL } else { &void::MODEL }
    }

    /// Whether a point may have a result beside its payload.
    pub(crate) fn has_result(&self) -> bool {
        !matches!(self.result, ResultRule::None(_))
    }

    /// Whether what stands behind the arrow is the reason of a rejection.
    pub(crate) fn has_reason(&self) -> bool {
        matches!(self.result, ResultRule::Reason(_))
    }

    /// Whether handlers fill the result together, field by field.
    pub(crate) fn is_merged(&self) -> bool {
        matches!(self.result, ResultRule::Merged)
    }
}

/// How to register an async closure that returns that.
fn register(verb: &str, point: &Point, payload: &str, returned: &str) -> String {
    let ident = &point.ident;
    format!("hooks.register_{verb}::<{ident}>(async |payload: &{payload}| {returned})?;")
}
