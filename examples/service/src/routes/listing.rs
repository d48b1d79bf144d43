//! What an operator can ask: what is registered, and how much has happened.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde_json::{Value, json};

use crate::recorder::recorder;
use crate::service::Service;

/// Plugins and handlers, with what each was called and why it was not.
pub(super) async fn hooks(State(service): State<Arc<Service>>) -> Json<Value> {
    let hooks = service.hooks();
    Json(json!({ "plugins": hooks.plugins(), "handlers": hooks.handlers() }))
}

/// What the observer `Metrics` counted.
pub(super) async fn metrics() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], recorder().render())
}
