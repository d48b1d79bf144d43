//! Takes something off large orders of certain tenants.

use std::collections::HashMap;

use hooks_runtime::{HookContext, hook_handlers};
use serde::Deserialize;

use crate::orders::NewOrder;
use crate::points::{Enrich, EnrichResult};
use crate::request::Tenant;

/// Takes something off large orders of certain tenants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loyalty {
    percent: HashMap<String, u64>,
}

/// Takes something off large orders of certain tenants.
#[hook_handlers(plugin = "loyalty", version = "2.1.0")]
impl Loyalty {
    /// Whose order it is, is no part of the payload: the scope of the request carries
    /// it.
    #[hook_handler(Enrich, when = is_large)]
    fn discount(&self, _: &NewOrder, cx: &HookContext) -> Option<EnrichResult> {
        let discount_percent = Some(self.percent_of(&cx.get::<Tenant>()?.0)?);
        Some(EnrichResult { discount_percent, ..Default::default() })
    }
}

impl Loyalty {
    /// What is taken off for that tenant.
    pub fn percent_of(&self, tenant: &str) -> Option<u64> {
        self.percent.get(tenant).copied()
    }
}

/// Whether an order is large.
pub fn is_large(order: &NewOrder) -> bool {
    order.quantity >= 10
}
