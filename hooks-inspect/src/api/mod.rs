//! The routes: the page, and the JSON API that it uses.

mod audit;
mod body;
mod error;
mod explain;
mod fires;
mod schema;
mod settings;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};

pub(crate) use error::ApiError;

use crate::guard::guarded;
use crate::page;
use crate::shared::Shared;

/// All routes, behind the guard.
pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page::page))
        .route("/api/state", get(state::state))
        .route("/api/fires", get(fires::fires))
        .route("/api/explain", get(explain::explain))
        .route("/api/audit", get(audit::audit))
        .route("/api/schema", get(schema::schema))
        .route("/api/settings", post(settings::set))
        .route("/api/settings/{id}", delete(settings::clear))
        .route("/api/breakers/reset", post(settings::reset))
        .fallback(async || ApiError::not_found())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        // Also around what is not found.
        .layer(from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}
