//! Answers an order that was sent before with what came of it then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hooks_runtime::{AfterExecute, BeforeExecute, FlowContext, hook_handlers};
use serde::Deserialize;

use crate::orders::{Created, Order};
use crate::points::Create;
use crate::request::Tenant;

/// Answers an order that was sent before with what came of it then.
#[derive(Debug)]
pub struct Replay {
    settings: ReplaySettings,
    known: Mutex<HashMap<Key, Order>>,
}

/// Its settings.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// How many orders it remembers before it begins anew.
    pub remembered: usize,
}

/// The tenant and its key. In the state of a run it says what to learn at its end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The tenant.
    pub tenant: String,
    /// What the tenant sent along.
    pub key: String,
}

impl Replay {
    /// A cache that knows nothing yet.
    pub fn new(settings: ReplaySettings) -> Self {
        Self { settings, known: Mutex::default() }
    }
}

/// Answers an order that was sent before with what came of it then.
#[hook_handlers(plugin = "replay", version = "1.0.0")]
impl Replay {
    /// Before the operation, which does not run where this answers.
    #[hook_handler(BeforeExecute<Create>)]
    fn answer(&self, flow: &mut FlowContext<Create>) {
        let Some(key) = flow.input().and_then(|new| new.idempotency_key.clone()) else { return };
        let tenant = flow.get::<Tenant>().map_or_else(String::new, |tenant| tenant.0.clone());
        let key = Key { tenant, key };
        if let Some(order) = self.find(&key) {
            flow.respond(Created { order, replayed: true });
        } else {
            flow.state_mut().insert(key);
        }
    }

    /// After it: only a run that has left its key is learned.
    #[hook_handler(AfterExecute<Create>)]
    fn learn(&self, flow: &mut FlowContext<Create>) {
        if let (Some(key), Some(created)) = (flow.state().get::<Key>(), flow.output()) {
            self.learn_order(key.clone(), created.order.clone());
        }
    }
}

impl Replay {
    /// The order that came of this key.
    pub fn find(&self, key: &Key) -> Option<Order> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Remembers what came of a key.
    pub fn learn_order(&self, key: Key, order: Order) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= self.settings.remembered {
            known.clear();
        }
        known.insert(key, order);
    }
}
