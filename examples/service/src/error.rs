//! What goes wrong, as an answer.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hooks_runtime::registry::Owner;
use hooks_runtime::{FireError, FlowError, Rejection};
use serde_json::json;

use crate::access::{Denied, Refused};
use crate::service::PlaceError;

/// What goes wrong, as an answer.
#[derive(Debug)]
pub enum ApiError {
    /// A guard rejected the request.
    Refused(Refused),
    /// The request cannot be served, for a reason that the caller may know.
    Client(StatusCode, String),
    /// A handler that must not fail failed. The caller is not told the details.
    Internal,
}

impl ApiError {
    /// The rejection of a guard.
    pub fn refused(rejection: Rejection<Denied>) -> Self {
        let by = match rejection.owner() {
            Owner::Plugin(id) => format!("{id}/{}", rejection.handler()),
            Owner::BuiltIn => rejection.handler().to_owned(),
        };
        Self::Refused(Refused { denied: rejection.into_reason(), by })
    }

    /// There is nothing of that name or number.
    pub fn not_found(what: impl Into<String>) -> Self {
        Self::Client(StatusCode::NOT_FOUND, what.into())
    }
}

impl From<FireError> for ApiError {
    fn from(error: FireError) -> Self {
        eprintln!("internal error: {error}");
        Self::Internal
    }
}

impl From<FlowError> for ApiError {
    fn from(error: FlowError) -> Self {
        let place = match error.downcast::<PlaceError>() {
            Ok(place) => place,
            Err(FlowError::Invalid { error, .. } | FlowError::Aborted { error, .. }) => {
                return Self::Client(StatusCode::UNPROCESSABLE_ENTITY, error.to_string());
            }
            Err(error) => {
                eprintln!("internal error: {error}");
                return Self::Internal;
            }
        };
        match place {
            PlaceError::Fire(error) => error.into(),
            PlaceError::NoPrice { .. } => {
                Self::Client(StatusCode::UNPROCESSABLE_ENTITY, place.to_string())
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::Refused(refused) => return refused.into_response(),
            Self::Client(status, text) => (status, text),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "something went wrong".into()),
        };
        (status, Json(json!({ "error": text }))).into_response()
    }
}
