//! What can go wrong between a name, a text and a fire.

use thiserror::Error;

use crate::error::FireError;
use crate::flow::FlowError;
use crate::point::ModelKind;

/// Why a point was not fired or handled by name, or has no outcome.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The catalogue has no point of that name.
    #[error("there is no hook point `{name}`{}", hint(*.nearest))]
    UnknownPoint {
        /// The name, shortened and escaped.
        name: String,
        /// The name that was most likely meant.
        nearest: Option<&'static str>,
    },
    /// The point is declared without JSON.
    #[error("`{point}` is declared without JSON: add `json = \"…\"` to `#![hook(…)]` of its block")]
    NoJson {
        /// The wire name of the point.
        point: &'static str,
    },
    /// The point has another model.
    #[error("`{point}` is a {model} point: {instead}")]
    WrongModel {
        /// The wire name of the point.
        point: &'static str,
        /// The model that it has.
        model: ModelKind,
        /// What to call instead.
        instead: &'static str,
    },
    /// The text is longer than the host allows.
    #[error("the payload of `{point}` has {size} bytes, {limit} are allowed")]
    TooLarge {
        /// The wire name of the point.
        point: &'static str,
        /// The length of the text.
        size: usize,
        /// The longest that is allowed.
        limit: usize,
    },
    /// The text is not JSON, or not what the point takes.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// The outcome of the fire cannot be written as JSON.
    #[error("the outcome of `{point}` cannot be written as JSON: {problem}")]
    Unwritable {
        /// The wire name of the point.
        point: &'static str,
        /// Why not.
        problem: String,
    },
    /// The fire has no outcome.
    #[error(transparent)]
    Fire(#[from] FireError),
    /// The flow has no output.
    #[error(transparent)]
    Flow(#[from] FlowError),
}

/// JSON that does not fit where it was given.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} of `{point}` does not fit {}: {problem}", place(.path))]
#[non_exhaustive]
pub struct Mismatch {
    /// The wire name of the point.
    pub point: &'static str,
    /// What it was to be: the payload, a handler's answer, the operation's
    /// output.
    pub what: &'static str,
    /// Where in the document, such as `messages[0].text`; `.` is the document
    /// itself.
    pub path: String,
    /// What was found and what was expected.
    pub problem: String,
}

fn hint(nearest: Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn place(path: &str) -> String {
    if path == "." { "as a whole".to_owned() } else { format!("at `{path}`") }
}
