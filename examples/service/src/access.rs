//! Who asks, and why a request is not served.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use thiserror::Error;

/// A request, as far as it matters for who may make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The method, such as `POST`.
    pub method: String,
    /// The path, such as `/orders`.
    pub path: String,
    /// What stood behind `Authorization: Bearer`.
    pub token: Option<String>,
    /// Whose token that is. Unknown until a handler says so.
    pub caller: Option<Caller>,
}

/// Whose token it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// The tenant.
    pub tenant: String,
    /// What the caller may do.
    pub role: Role,
}

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Orders.
    Customer,
    /// Orders, and plugins.
    Operator,
}

/// Why a request is not served: the type of the reason with which a guard rejects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Denied {
    /// The token is missing or unknown.
    #[error("send `Authorization: Bearer TOKEN` with a known token")]
    Unauthenticated,
    /// The caller is known and may not do this.
    #[error("this takes another role")]
    Forbidden {
        /// The role that it takes.
        needs: Role,
    },
    /// The tenant has ordered as much as it may.
    #[error("{tenant} has used up its {limit} orders")]
    QuotaUsedUp {
        /// The tenant.
        tenant: String,
        /// How many orders it had.
        limit: u32,
    },
}

impl Denied {
    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } => StatusCode::FORBIDDEN,
            Self::QuotaUsedUp { .. } => StatusCode::TOO_MANY_REQUESTS,
        }
    }
}

/// A request that is not served, and the handler that judged so: `plugin/handler`.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Why.
    pub denied: Denied,
    /// By which handler.
    pub by: String,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let Self { denied, by } = self;
        let body = json!({ "error": denied.to_string(), "reason": denied, "by": by });
        (denied.status(), Json(body)).into_response()
    }
}
