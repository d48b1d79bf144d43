//! What can go wrong between a name, a text and a fire.

use thiserror::Error;

use crate::error::FireError;
use crate::flow::FlowError;
use crate::point::ModelKind;
use crate::readable::readable_debug;

/// Why a point was not fired or handled by name, or has no outcome.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::json::JsonError;
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// A lamp was switched.
/// #     pub void Switched { on: bool }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let catalogue = points();
/// let json = hooks.json(&catalogue).max_bytes(16);
/// let fire = async |name, text| json.fire(name, text).await.unwrap_err();
/// let long = "x".repeat(17);
/// assert!(matches!(fire("switched", &*long).await, JsonError::TooLarge { size: 17, limit: 16, .. }));
/// assert!(matches!(fire("switcht", "{}").await, JsonError::UnknownPoint { nearest: Some("switched"), .. }));
/// # Ok(()) }
/// ```
#[derive(Error)]
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
    #[error(
        "the payload of `{point}` has {size} bytes, {limit} are allowed: send less, or raise \
         `max_bytes`"
    )]
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
    #[error(
        "the outcome of `{point}` cannot be written as JSON: {problem}; its type needs a `Serialize` \
         that writes JSON"
    )]
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
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # use hooks_runtime::json::JsonError;
/// # hook_points! {
/// #     #![hook(json = "camelCase", catalogue = pub fn points)]
/// #     /// A lamp was switched.
/// #     pub void Switched { on: bool }
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let hooks = HookRegistry::new();
/// let catalogue = points();
/// let error = hooks.json(&catalogue).fire("switched", r#"{"on": 1}"#).await.unwrap_err();
/// let JsonError::Mismatch(mismatch) = error else { panic!("{error}") };
/// assert_eq!((mismatch.point, mismatch.what, &*mismatch.path), ("switched", "the payload", "on"));
/// assert!(mismatch.problem.starts_with("invalid type: integer `1`, expected a boolean"));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Error)]
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
    nearest.map_or_else(
        || "; the catalogue has all names: see its `points`".to_owned(),
        |name| format!(": did you mean `{name}`?"),
    )
}

fn place(path: &str) -> String {
    if path == "." { "as a whole".to_owned() } else { format!("at `{path}`") }
}

readable_debug! { struct Mismatch { point, what, path, problem } }
readable_debug! {
    enum JsonError {
        UnknownPoint { name, nearest },
        NoJson { point },
        WrongModel { point, model, instead },
        TooLarge { point, size, limit },
        Mismatch(mismatch),
        Unwritable { point, problem },
        Fire(error),
        Flow(error),
    }
}
