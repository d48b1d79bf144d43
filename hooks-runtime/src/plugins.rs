//! The plugins that a registry knows.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

use crate::plugin_id::PluginId;

/// A plugin id with its bit in the scopes of one registry.
///
/// Entries and scopes share it; when the last of them is gone the bit can be
/// given to another id.
pub(crate) struct PluginName {
    id: PluginId,
    bit: u32,
    free: Arc<Mutex<Vec<u32>>>,
}

impl PluginName {
    pub(crate) fn new(id: PluginId, bit: u32, free: Arc<Mutex<Vec<u32>>>) -> Self {
        Self { id, bit, free }
    }

    pub(crate) fn bit(&self) -> u32 {
        self.bit
    }
}

impl Drop for PluginName {
    fn drop(&mut self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.bit);
    }
}

impl fmt::Debug for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PluginName({} = {})", self.id, self.bit)
    }
}

/// One stay of a plugin in a registry: from its first registration until it
/// is unregistered or replaced.
#[derive(Debug)]
pub(crate) struct PluginRecord {
    name: Arc<PluginName>,
    /// Tells one stay from the next; never zero.
    stay: u64,
    /// Who waits for the last running handler to end.
    waiters: Mutex<Vec<Waker>>,
}

impl PluginRecord {
    pub(crate) fn new(name: Arc<PluginName>, stay: u64) -> Self {
        Self { name, stay, waiters: Mutex::new(Vec::new()) }
    }

    pub(crate) fn id(&self) -> &PluginId {
        &self.name.id
    }

    pub(crate) fn bit(&self) -> u32 {
        self.name.bit
    }

    pub(crate) fn stay(&self) -> u64 {
        self.stay
    }

    pub(crate) fn wait(&self, waker: &Waker) {
        let mut waiters = self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiters.iter().any(|known| known.will_wake(waker)) {
            waiters.push(waker.clone());
        }
    }

    /// Wakes everybody who waits, outside the lock.
    pub(crate) fn wake(&self) {
        let waiters =
            std::mem::take(&mut *self.waiters.lock().unwrap_or_else(PoisonError::into_inner));
        for waiter in waiters {
            waiter.wake();
        }
    }
}
