//! Bounds how much a tenant orders.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hooks_runtime::{Judgement, hook_handlers};
use serde::Deserialize;

use crate::access::{Access, Denied};
use crate::points::Authorize;

/// Bounds how much a tenant orders.
#[derive(Debug)]
pub struct Quota {
    settings: QuotaSettings,
    used: Mutex<HashMap<String, u32>>,
}

/// Its settings.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotaSettings {
    /// How many orders a tenant may send.
    pub orders: u32,
}

impl Quota {
    /// A quota that no tenant has used yet.
    pub fn new(settings: QuotaSettings) -> Self {
        Self { settings, used: Mutex::default() }
    }
}

/// Bounds how much a tenant orders.
#[hook_handlers(plugin = "quota", version = "1.0.0")]
impl Quota {
    /// A guard: it counts what is really served, after all rewriters.
    #[hook_handler(Authorize, guard, when = is_order)]
    pub fn count(&self, access: &Access) -> Judgement<Denied> {
        let Some(caller) = &access.caller else { return Judgement::Pass };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.entry(caller.tenant.clone()).or_default();
        if *used == self.settings.orders {
            let (tenant, limit) = (caller.tenant.clone(), self.settings.orders);
            return Judgement::Reject(Denied::QuotaUsedUp { tenant, limit });
        }
        *used += 1;
        Judgement::Pass
    }
}

/// Whether a request brings an order.
pub fn is_order(access: &Access) -> bool {
    access.method == "POST" && access.path == "/orders"
}
