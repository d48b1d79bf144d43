//! The routes. All but the metrics are authorised first.

mod admin;
mod listing;
mod orders;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};

use crate::request::authorize;
use crate::service::Service;

/// All routes.
pub fn router(service: Arc<Service>) -> Router {
    let authorized = Router::new()
        .route("/orders", post(orders::create))
        .route("/orders/{id}", get(orders::read))
        .route("/hooks", get(listing::hooks))
        .route("/admin/plugins/{id}", put(admin::load).delete(admin::unload))
        .route_layer(from_fn_with_state(Arc::clone(&service), authorize));
    authorized.route("/metrics", get(listing::metrics)).with_state(service)
}
