//! Plugins leave and come back while requests are served.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::service::Service;

/// How long a request waits for the calls of a plugin that leaves.
const LIMIT: Duration = Duration::from_secs(5);

/// Takes a plugin out. The answer comes when nothing of it runs any more.
pub(super) async fn unload(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let absent = || ApiError::not_found(format!("no plugin {id:?} is installed"));
    let removal = service.unload(&id).ok_or_else(absent)?;
    let late = |error: hooks_runtime::plugin::DrainError| {
        ApiError::Client(StatusCode::GATEWAY_TIMEOUT, error.to_string())
    };
    removal.within(LIMIT).await.map_err(late)?;
    Ok(Json(json!({ "plugin": id, "handlers_removed": removal.removed() })))
}

/// Builds a plugin from its settings and starts it.
pub(super) async fn load(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let absent = || ApiError::not_found(format!("no plugin {id:?} is configured"));
    let loaded = service.load(&id).await.ok_or_else(absent)?;
    loaded.map_err(|error| ApiError::Client(StatusCode::CONFLICT, error.to_string()))?;
    let handlers = service.hooks().handlers_of(&id).len();
    Ok((StatusCode::CREATED, Json(json!({ "plugin": id, "handlers": handlers }))))
}
