//! The same service without hooks: the same parts, called directly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::post;
use axum::{Extension, Json, Router};
use hooks_runtime::{Judgement, Verdict};
use hooks_service::access::{Access, Caller, Denied, Refused};
use hooks_service::configuration::{Configuration, ConfigurationError};
use hooks_service::error::ApiError;
use hooks_service::orders::{Created, NewOrder, Orders, Warehouse};
use hooks_service::plugins::{
    Journal, Key, Loyalty, Prices, Quota, Replay, Tokens, Warehouses, is_admin, is_large, is_order,
};
use hooks_service::request::{RequestId, Tenant, access};
use serde::de::DeserializeOwned;

/// The parts, by their types.
#[derive(Debug)]
pub(crate) struct Direct {
    tokens: Tokens,
    quota: Quota,
    prices: Prices,
    loyalty: Loyalty,
    warehouses: Warehouses,
    replay: Replay,
    journal: Arc<Journal>,
    orders: Orders,
    requests: AtomicU64,
}

impl Direct {
    pub(crate) fn new(configuration: &Configuration) -> Result<Arc<Self>, ConfigurationError> {
        let journal = Journal::new(read(configuration, "journal")?);
        journal.open().expect("the journal can be opened");
        Ok(Arc::new(Self {
            tokens: configuration.tokens.clone(),
            quota: Quota::new(read(configuration, "quota")?),
            prices: read(configuration, "prices")?,
            loyalty: read(configuration, "loyalty")?,
            warehouses: read(configuration, "warehouses")?,
            replay: Replay::new(read(configuration, "replay")?),
            journal: Arc::new(journal),
            orders: Orders::default(),
            requests: AtomicU64::new(0),
        }))
    }

    pub(crate) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/orders", post(create))
            .route_layer(from_fn_with_state(Arc::clone(&self), authorize))
            .with_state(self)
    }

    /// What the handlers at `Authorize` do, in their order.
    fn judge(&self, access: &Access) -> Result<Caller, Refused> {
        let Verdict::Replace(access) = self.tokens.identify(access) else {
            return Err(Refused { denied: Denied::Unauthenticated, by: "identify".to_owned() });
        };
        judged("known", self.tokens.known(&access))?;
        if is_admin(&access) {
            judged("operators_only", self.tokens.operators_only(&access))?;
        }
        if is_order(&access) {
            judged("quota/count", self.quota.count(&access))?;
        }
        let unknown = || Refused { denied: Denied::Unauthenticated, by: "known".to_owned() };
        access.caller.ok_or_else(unknown)
    }

    /// What the flow and its operation do.
    fn place(&self, tenant: &str, new: NewOrder) -> Result<Created, ApiError> {
        let client = |text: &str| ApiError::Client(StatusCode::UNPROCESSABLE_ENTITY, text.into());
        new.check().map_err(client)?;
        let key = new.idempotency_key.clone().map(|key| Key { tenant: tenant.to_owned(), key });
        if let Some(order) = key.as_ref().and_then(|key| self.replay.find(key)) {
            return Ok(Created { order, replayed: true });
        }
        let price = self.prices.price(&new).and_then(|known| known.unit_cents);
        let price = price.ok_or_else(|| client("there is no price"))?;
        let discount = is_large(&new).then(|| self.loyalty.percent_of(tenant)).flatten();
        let warehouse = self.warehouses.in_stock(&new);
        let warehouse = warehouse.unwrap_or_else(|| Warehouse("central".to_owned()));
        let order = self.orders.enter(tenant, new, price, discount.unwrap_or(0), warehouse);
        if let Some(key) = key {
            self.replay.learn_order(key, order.clone());
        }
        Ok(Created { order, replayed: false })
    }
}

fn read<T: DeserializeOwned>(
    configuration: &Configuration,
    id: &str,
) -> Result<T, ConfigurationError> {
    let entry = configuration.plugins.iter().find(|entry| entry.id == id);
    entry.ok_or_else(|| ConfigurationError::UnknownPlugin(id.to_owned()))?.read()
}

fn judged(by: &str, judgement: Judgement<Denied>) -> Result<(), Refused> {
    match judgement {
        Judgement::Reject(denied) => Err(Refused { denied, by: by.to_owned() }),
        _ => Ok(()),
    }
}

async fn authorize(
    State(direct): State<Arc<Direct>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let id = format!("r-{}", direct.requests.fetch_add(1, Ordering::Relaxed) + 1);
    let caller = direct.judge(&access(&request)).map_err(ApiError::Refused)?;
    let scope = Arc::new((RequestId(id.clone()), Tenant(caller.tenant)));
    request.extensions_mut().insert(scope);
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert("x-request-id", id);
    }
    Ok(response)
}

async fn create(
    State(direct): State<Arc<Direct>>,
    Extension(scope): Extension<Arc<(RequestId, Tenant)>>,
    Json(new): Json<NewOrder>,
) -> Result<(StatusCode, Json<Created>), ApiError> {
    let created = direct.place(&scope.1.0, new)?;
    if created.replayed {
        return Ok((StatusCode::OK, Json(created)));
    }
    let (journal, order) = (Arc::clone(&direct.journal), created.order.clone());
    tokio::spawn(async move { journal.write_order(&scope.0.0, &order) });
    Ok((StatusCode::CREATED, Json(created)))
}
