//! Knows what things cost. A plugin that is its settings.

use std::collections::HashMap;

use hooks_runtime::hook_handlers;
use serde::Deserialize;

use crate::orders::NewOrder;
use crate::points::{Enrich, EnrichResult};

/// Knows what things cost.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    cents: HashMap<String, u64>,
}

/// Knows what things cost.
#[hook_handlers(plugin = "prices", version = "1.0.0")]
impl Prices {
    /// Says nothing about what it does not know.
    #[hook_handler(Enrich)]
    pub fn price(&self, order: &NewOrder) -> Option<EnrichResult> {
        let unit_cents = Some(*self.cents.get(&order.item)?);
        Some(EnrichResult { unit_cents, ..Default::default() })
    }
}
