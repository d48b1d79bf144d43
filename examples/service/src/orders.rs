//! Orders, and the books that they are in.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// An order as it comes in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// What is ordered.
    pub item: String,
    /// How much of it.
    pub quantity: u64,
    /// The same key is the same order, however often it is sent.
    pub idempotency_key: Option<String>,
}

impl NewOrder {
    /// What can be said without knowing anything else.
    pub fn check(&self) -> Result<(), &'static str> {
        match self.quantity {
            0 => Err("the quantity is 0: order at least one"),
            1..=1000 => Ok(()),
            _ => Err("the quantity is too large: order 1000 at most"),
        }
    }
}

/// An order in the books.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number.
    pub id: u64,
    /// Who ordered.
    pub tenant: String,
    /// What was ordered.
    pub item: String,
    /// How much of it.
    pub quantity: u64,
    /// What is taken off the whole.
    pub discount_percent: u64,
    /// What it comes to.
    pub total_cents: u64,
    /// The warehouse that sends it.
    pub warehouse: Warehouse,
}

/// The name of a warehouse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warehouse(pub String);

/// An order, and whether it was in the books before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The order.
    #[serde(flatten)]
    pub order: Order,
    /// Whether this is the answer to an earlier request with the same key.
    pub replayed: bool,
}

/// The books.
#[derive(Debug, Default)]
pub struct Orders(Mutex<BTreeMap<u64, Order>>);

impl Orders {
    /// Enters an order.
    pub fn enter(
        &self,
        tenant: &str,
        new: NewOrder,
        unit_cents: u64,
        discount_percent: u64,
        warehouse: Warehouse,
    ) -> Order {
        let NewOrder { item, quantity, .. } = new;
        let full = unit_cents.saturating_mul(quantity);
        let total_cents = full - full / 100 * discount_percent.min(100);
        let mut orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = orders.last_key_value().map_or(1, |(last, _)| last + 1);
        let tenant = tenant.to_owned();
        let order = Order { id, tenant, item, quantity, discount_percent, total_cents, warehouse };
        orders.insert(id, order.clone());
        order
    }

    /// The order of that number, if it is the tenant's.
    pub fn get(&self, tenant: &str, id: u64) -> Option<Order> {
        let orders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        orders.get(&id).filter(|order| order.tenant == tenant).cloned()
    }
}
