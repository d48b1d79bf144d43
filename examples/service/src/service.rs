//! The service: its hooks, its books, and its life.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hooks_runtime::background::SettleError;
use hooks_runtime::observe::Metrics;
use hooks_runtime::plugin::{DrainError, Removal, StartError};
use hooks_runtime::{AnyPlugin, Claim, FireError, HookRegistry, ScopedHooks};
use thiserror::Error;
use tokio::net::TcpListener;

use crate::configuration::{Configuration, ConfigurationError, Entry};
use crate::orders::{Created, NewOrder, Orders, Warehouse};
use crate::points::{Enrich, Route};
use crate::request::Tenant;
use crate::routes::router;

/// Sends what no warehouse claims.
const CENTRAL: &str = "central";

/// The service: its hooks, its books, and what it was configured with.
#[derive(Debug)]
pub struct Service {
    hooks: HookRegistry,
    configuration: Configuration,
    orders: Orders,
    requests: AtomicU64,
}

/// Why the service did not start.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// A plugin's settings are wrong.
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    /// A plugin did not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The host's own handlers were refused.
    #[error(transparent)]
    Register(#[from] hooks_runtime::RegisterError),
}

/// Why an order is not placed.
#[derive(Debug, Error)]
pub enum PlaceError {
    /// A handler that must not fail failed.
    #[error(transparent)]
    Fire(#[from] FireError),
    /// No handler knows a price.
    #[error("there is no price for {item:?}: order something else")]
    NoPrice {
        /// What was ordered.
        item: String,
    },
}

/// Why the service did not end as it should.
#[derive(Debug, Error)]
pub enum ShutdownError {
    /// The server failed.
    #[error(transparent)]
    Server(#[from] std::io::Error),
    /// Fires in the background were left.
    #[error(transparent)]
    Background(#[from] SettleError),
    /// A plugin was left.
    #[error(transparent)]
    Plugin(#[from] DrainError),
}

impl Service {
    /// A service with the plugins of its configuration: all of them, or an error.
    pub async fn launch(configuration: Configuration) -> Result<Arc<Self>, LaunchError> {
        let builder = HookRegistry::builder();
        let hooks = if configuration.metrics { builder.observer(Metrics) } else { builder }.build();
        hooks.install(configuration.tokens.clone())?;
        let plugins = configuration.plugins.iter().map(Entry::build);
        let plugins: Vec<Box<dyn AnyPlugin>> = plugins.collect::<Result<_, _>>()?;
        hooks.start_all(plugins).await?;
        let (orders, requests) = (Orders::default(), AtomicU64::new(0));
        Ok(Arc::new(Self { hooks, configuration, orders, requests }))
    }

    /// Serves until `shutdown` is ready; then takes no more requests, answers those that
    /// are under way, waits for the fires in the background and stops the plugins.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ShutdownError> {
        let router = router(Arc::clone(&self));
        axum::serve(listener, router).with_graceful_shutdown(shutdown).await?;
        self.close(Duration::from_millis(self.configuration.shutdown_ms)).await
    }

    /// The fires in the background first, as they use the plugins; then the plugins, the
    /// last one first. One that is late does not keep the others from being stopped.
    async fn close(&self, limit: Duration) -> Result<(), ShutdownError> {
        let deadline = Instant::now() + limit;
        let left = || deadline.saturating_duration_since(Instant::now());
        let settled = self.hooks.settled().within(left()).await;
        let mut plugins = self.hooks.plugins();
        plugins.sort_by_key(|plugin| std::cmp::Reverse(plugin.generation));
        let mut stopped = Ok(());
        for plugin in plugins {
            let removed = self.hooks.unregister_plugin(&plugin.id).within(left()).await;
            stopped = stopped.and(removed);
        }
        settled?;
        Ok(stopped?)
    }

    /// Where handlers are registered.
    pub fn hooks(&self) -> &HookRegistry {
        &self.hooks
    }

    /// The books.
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// Takes a plugin out, under load: no call of it begins after this.
    pub fn unload(&self, id: &str) -> Option<Removal> {
        self.hooks.is_installed(id).then(|| self.hooks.unregister_plugin(id))
    }

    /// Builds a plugin anew from its settings and starts it. `None` where the
    /// configuration has none of that id.
    pub async fn load(&self, id: &str) -> Option<Result<(), LaunchError>> {
        let entry = self.configuration.plugins.iter().find(|entry| entry.id == id)?;
        let plugin = match entry.build() {
            Ok(plugin) => plugin,
            Err(error) => return Some(Err(error.into())),
        };
        Some(self.hooks.start(plugin).await.map(drop).map_err(LaunchError::from))
    }

    /// The operation of the flow: the price, the warehouse, the books.
    pub async fn place(&self, hooks: &ScopedHooks, new: NewOrder) -> Result<Created, PlaceError> {
        let known = hooks.fire_modifying::<Enrich>(&new).await?;
        let Some(unit_cents) = known.unit_cents else {
            return Err(PlaceError::NoPrice { item: new.item });
        };
        let warehouse = match hooks.fire_claiming::<Route>(&new).await? {
            Claim::Claimed(warehouse) => warehouse,
            Claim::Unclaimed => Warehouse(CENTRAL.to_owned()),
        };
        let tenant = hooks.get::<Tenant>().map_or("", |tenant| &tenant.0);
        let discount = known.discount_percent.unwrap_or(0);
        let order = self.orders.enter(tenant, new, unit_cents, discount, warehouse);
        Ok(Created { order, replayed: false })
    }

    /// An id for a request that brought none.
    pub(crate) fn next_request_id(&self) -> String {
        format!("r-{}", self.requests.fetch_add(1, Ordering::Relaxed) + 1)
    }
}
