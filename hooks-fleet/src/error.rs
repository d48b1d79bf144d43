//! What can go wrong before anything is fired.

use std::fmt;

use hooks_runtime::RegisterError;
use hooks_runtime::json::JsonError;
use hooks_runtime::plugin::PluginIdError;
use thiserror::Error;

/// Why a process cannot take part in a fleet.
#[derive(Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The catalogue that was given has no such point.
    #[error(
        "the catalogue of this fleet has no point `{point}`: give `FleetOptions::new` the catalogue \
         of its block, put together with others by `Catalogue::merge`"
    )]
    UnknownPoint {
        /// The wire name.
        point: String,
    },
    /// The point is declared without schemas, by which processes know whether they fit.
    #[error(
        "`{point}` is declared without JSON Schemas: write `#![hook(json = \"camelCase\", schema, \
         catalogue = …)]` at the head of its block"
    )]
    NoSchema {
        /// The wire name.
        point: String,
    },
    /// A flow itself has no handlers.
    #[error("`{flow}` is a flow: name its stages, such as `BeforeExecute<…>`")]
    Flow {
        /// The wire name.
        flow: String,
    },
    /// Only void points can be durable.
    #[error("`{point}` is a {model} point, whose answer is awaited: only void points are durable")]
    NotVoid {
        /// The wire name.
        point: String,
        /// Its model.
        model: String,
    },
    /// Two handlers would have one name in the service.
    #[error(
        "two handlers at `{point}` would be `{handler}` in the service: the name of a plugin's \
         handler begins with the plugin's id and a dot. Rename one"
    )]
    SameName {
        /// The wire name of the point.
        point: String,
        /// The name.
        handler: String,
    },
    /// There is nothing to serve.
    #[error("the registry has no handlers at {points}: register them before `start`")]
    NothingToServe {
        /// The wire names of the points.
        points: String,
    },
    /// What is declared idempotent is not served.
    #[error("`{handler}` is declared idempotent, and is not served: what is served is {served}")]
    UnknownHandler {
        /// The name that was given.
        handler: String,
        /// The names there are.
        served: String,
    },
    /// Points are shared with nobody.
    #[error(
        "no service is named at {points}, so no handler of one takes part: name one by `from` or `require`"
    )]
    NoService {
        /// The wire names of the points.
        points: String,
    },
    /// The name of a service is that of the plugin that owns its handlers.
    #[error("a service is named as a plugin is: {0}")]
    Service(#[from] PluginIdError),
    /// The point cannot be handled by name.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The registry refused the handlers.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The carrier refused.
    #[error("{0}")]
    Carrier(#[from] crate::carrier::CarrierError),
}

/// As it reads: a `main` that returns it prints this form.
impl fmt::Debug for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Names in a message.
pub(crate) fn quoted(names: impl IntoIterator<Item = impl fmt::Display>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
