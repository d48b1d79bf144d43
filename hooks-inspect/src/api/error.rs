//! What is refused, and why.

use std::borrow::Cow;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hooks_runtime::operator::OperatorError;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a request was refused. Nothing was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ApiError {
    #[serde(skip)]
    status: StatusCode,
    /// What went wrong, in one word: `bad_request`, `unauthorized`, `refused`, `reads_only`,
    /// `not_found`, `method_not_allowed`, `too_large`, `wrong_type`, `no_match`, `no_setting`,
    /// `needs_break_glass`, `not_possible`, `too_many`.
    error: &'static str,
    /// What went wrong, what was expected and what to do.
    message: Cow<'static, str>,
}

impl ApiError {
    fn new(status: StatusCode, error: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, error, message: message.into() }
    }

    pub(crate) fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    pub(crate) fn refused(message: &'static str) -> Self {
        Self::new(StatusCode::FORBIDDEN, "refused", message)
    }

    pub(crate) fn reads_only() -> Self {
        let message = "this page only reads: its host gave it no operator";
        Self::new(StatusCode::FORBIDDEN, "reads_only", message)
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "a change shows the token of the page: `Authorization: Bearer …`";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    pub(crate) fn not_found() -> Self {
        let message = "there is nothing here; `api/schema` has what there is";
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "this cannot be done here; the header `Allow` has what can";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
    }

    pub(crate) fn wrong_type() -> Self {
        let message = "a change is JSON: `Content-Type: application/json`";
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_type", message)
    }

    pub(crate) fn too_large(most: usize) -> Self {
        let message = format!("the body is longer than {most} bytes, which is the most");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    pub(crate) fn not_possible(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "not_possible", message)
    }

    pub(crate) fn too_many_streams() -> Self {
        let message = "as many event streams are open as may be: close a page, or try again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "too_many", message)
    }
}

/// The texts of the runtime name calls in Rust; here they name fields.
impl From<OperatorError> for ApiError {
    fn from(error: OperatorError) -> Self {
        match &error {
            OperatorError::NoMatch { .. } => {
                Self::new(StatusCode::NOT_FOUND, "no_match", error.to_string())
            }
            OperatorError::NoSetting { .. } => {
                Self::new(StatusCode::NOT_FOUND, "no_setting", error.to_string())
            }
            OperatorError::NeedsBreakGlass {
                setting,
                handler,
                more,
                effect,
                or_fail_closed,
                ..
            } => {
                let more = match more {
                    0 => String::new(),
                    more => format!(" (and {more} more that need it)"),
                };
                let instead = if *or_fail_closed { ", or with `fail_closed: true`" } else { "" };
                let message = format!(
                    "`{setting}` of `{handler}`{more} would {effect}. If that is meant, send it \
                     with `break_glass: true`, a `why` and an `until_s`{instead}"
                );
                Self::new(StatusCode::CONFLICT, "needs_break_glass", message)
            }
            OperatorError::NoEnd => {
                Self::not_possible("a break-glass setting has an end: give `until_s`, in seconds")
            }
            OperatorError::NoReason => {
                Self::not_possible("a break-glass setting has a `why` that people can read")
            }
            OperatorError::Ended => Self::not_possible("`until_s` is at least 1"),
            OperatorError::TooFar => Self::not_possible(
                "a setting ends within a year: give `until_s` at most 31536000, or leave it out \
                 where the setting is to hold until it is cleared",
            ),
            OperatorError::TooMany { .. } => {
                Self::new(StatusCode::CONFLICT, "too_many", error.to_string())
            }
            _ => Self::not_possible(error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(self)).into_response();
        if status == StatusCode::UNAUTHORIZED {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
