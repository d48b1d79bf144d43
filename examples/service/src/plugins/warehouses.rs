//! Knows where things are in stock.

use hooks_runtime::hook_handlers;
use serde::Deserialize;

use crate::orders::{NewOrder, Warehouse};
use crate::points::Route;

/// Knows where things are in stock.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warehouses {
    stock: Vec<Stock>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stock {
    warehouse: String,
    items: Vec<String>,
}

/// Knows where things are in stock.
#[hook_handlers(plugin = "warehouses", version = "1.0.0")]
impl Warehouses {
    /// The first that has it. Without a claim the host takes its own way.
    #[hook_handler(Route)]
    pub fn in_stock(&self, order: &NewOrder) -> Option<Warehouse> {
        let found = self.stock.iter().find(|stock| stock.items.contains(&order.item))?;
        Some(Warehouse(found.warehouse.clone()))
    }
}
