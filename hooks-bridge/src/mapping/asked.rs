//! What each command was last asked about in a fire, so that it is asked again where a
//! later one changed that.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use hooks_runtime::handler::FireKey;
use serde_json::Value;

/// Fires that were dropped leave their entry until their key is used again; there are
/// never more of them than this.
const MOST_FIRES: usize = 1024;

/// What the commands of one point were last asked about, fire by fire.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    fires: HashMap<FireKey, Fire>,
    order: VecDeque<FireKey>,
}

#[derive(Debug, Default)]
struct Fire {
    /// What the fire began with.
    first: Value,
    asked: HashMap<usize, Value>,
}

impl Questions {
    fn inner<T>(&self, then: impl FnOnce(&mut Inner) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A fire begins: what another with its key left is forgotten.
    pub(super) fn begin(&self, fire: FireKey, first: Value) {
        self.inner(|inner| {
            inner.fires.insert(fire, Fire { first, ..Fire::default() });
            inner.order.retain(|other| *other != fire);
            inner.order.push_back(fire);
            if inner.order.len() > MOST_FIRES {
                // It is asked again where it need not be, which is the safe mistake.
                let oldest = inner.order.pop_front();
                oldest.and_then(|oldest| inner.fires.remove(&oldest));
            }
        });
    }

    /// A command let this input pass.
    pub(super) fn passed(&self, fire: FireKey, command: usize, input: Value) {
        self.inner(|inner| {
            if let Some(fire) = inner.fires.get_mut(&fire) {
                fire.asked.insert(command, input);
            }
        });
    }

    /// Whether the command has let exactly this input pass in this fire.
    pub(super) fn has_passed(&self, fire: FireKey, command: usize, input: &Value) -> bool {
        self.inner(|inner| {
            inner.fires.get(&fire).is_some_and(|fire| fire.asked.get(&command) == Some(input))
        })
    }

    /// Whether the command was left out though nothing was rewritten: its matcher is met as
    /// it was then, so an operator turned it off, or has it run without effect.
    pub(super) fn was_left_out(&self, fire: FireKey, command: usize, input: &Value) -> bool {
        self.inner(|inner| {
            inner.fires.get(&fire).is_some_and(|fire| {
                fire.first == *input
                    && !fire.asked.contains_key(&command)
                    && fire.asked.values().all(|asked| asked == input)
            })
        })
    }
}
