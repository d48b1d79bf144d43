//! Changes: who may make them, and what they say.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, header};
use hooks_runtime::operator::Operator;
use serde::de::DeserializeOwned;

use super::ApiError;
use crate::shared::Shared;

/// No change needs more.
pub(crate) const LONGEST_BODY: usize = 16 * 1_024;

/// The operator, for a request that may make changes.
pub(super) fn allowed<'s>(
    shared: &'s Shared,
    headers: &HeaderMap,
) -> Result<&'s Operator, ApiError> {
    let changes = shared.changes.as_ref().ok_or_else(ApiError::reads_only)?;
    let mut shown = headers.get_all(header::AUTHORIZATION).iter();
    let is_shown = match (shown.next(), shown.next()) {
        (Some(shown), None) => {
            shown.to_str().ok().and_then(bearer).is_some_and(|it| changes.token.is(it))
        }
        _ => false,
    };
    if !is_shown {
        return Err(ApiError::unauthorized());
    }
    // No form of another page can send this type, so a browser asks first.
    let is_json = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_json = is_json.and_then(|kind| kind.split(';').next());
    if !is_json.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
        return Err(ApiError::wrong_type());
    }
    Ok(&changes.operator)
}

fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// What a change says. Every field is known, and of the type that it is to have.
pub(super) async fn read<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let body = to_bytes(body, LONGEST_BODY).await.map_err(|_| ApiError::too_large(LONGEST_BODY))?;
    let mut document = serde_json::Deserializer::from_slice(&body);
    let read = serde_path_to_error::deserialize(&mut document).map_err(|error| {
        let path = error.path().to_string();
        let at = if path == "." { String::new() } else { format!("`{path}`: ") };
        ApiError::bad_request(format!("the body is not what was expected: {at}{}", error.inner()))
    })?;
    document.end().map_err(|_| ApiError::bad_request("there is more behind the JSON object"))?;
    Ok(read)
}
