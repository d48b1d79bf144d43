//! Orders.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use hooks_runtime::ScopedHooks;

use crate::error::ApiError;
use crate::orders::{Created, NewOrder, Order};
use crate::points::{Create, OrderCreated};
use crate::request::Tenant;
use crate::service::Service;

/// Places an order: one run of the flow, and the news of it in the background.
pub(super) async fn create(
    State(service): State<Arc<Service>>,
    Extension(hooks): Extension<ScopedHooks>,
    Json(new): Json<NewOrder>,
) -> Result<(StatusCode, Json<Created>), ApiError> {
    let run = hooks.flow::<Create>().validate(NewOrder::check);
    let created = run.run(new, async |new| service.place(&hooks, new).await).await?;
    if created.replayed {
        return Ok((StatusCode::OK, Json(created)));
    }
    hooks.spawn_void::<OrderCreated>(created.order.clone());
    Ok((StatusCode::CREATED, Json(created)))
}

/// An order of the caller's own tenant.
pub(super) async fn read(
    State(service): State<Arc<Service>>,
    Extension(hooks): Extension<ScopedHooks>,
    Path(id): Path<u64>,
) -> Result<Json<Order>, ApiError> {
    let tenant = hooks.get::<Tenant>().map_or("", |tenant| &tenant.0);
    let order = service.orders().get(tenant, id);
    order.map(Json).ok_or_else(|| ApiError::not_found(format!("there is no order {id}")))
}
