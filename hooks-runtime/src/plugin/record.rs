//! The plugins that a registry knows.

use std::fmt;
use std::sync::{Arc, PoisonError};

use crate::plugin::id::PluginId;
use crate::plugin::tracker::CallTracker;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicUsize, Ordering};

/// A plugin id with its bit in the scopes of one registry.
///
/// Entries and scopes share it; when the last of them is dropped the bit can be
/// assigned to another id.
pub(crate) struct PluginName {
    id: PluginId,
    bit: u32,
    /// All handlers of the plugin, of every generation.
    tracker: Arc<CallTracker>,
    free: Arc<Mutex<Vec<u32>>>,
}

impl PluginName {
    pub(crate) fn new(id: PluginId, bit: u32, free: Arc<Mutex<Vec<u32>>>) -> Self {
        Self { id, bit, tracker: Arc::new(CallTracker::new()), free }
    }

    pub(crate) fn id(&self) -> &PluginId {
        &self.id
    }

    pub(crate) fn bit(&self) -> u32 {
        self.bit
    }

    pub(crate) fn tracker(&self) -> &Arc<CallTracker> {
        &self.tracker
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

/// One generation of a plugin in a registry: from its first registration until
/// it is unregistered or replaced.
#[derive(Debug)]
pub(crate) struct PluginRecord {
    name: Arc<PluginName>,
    /// The number of the generation; never reused.
    generation: u64,
    /// How many handlers it has. Changed under the store's lock only.
    handlers: AtomicUsize,
}

impl PluginRecord {
    pub(crate) fn new(name: Arc<PluginName>, generation: u64) -> Self {
        Self { name, generation, handlers: AtomicUsize::new(0) }
    }

    pub(crate) fn id(&self) -> &PluginId {
        &self.name.id
    }

    pub(crate) fn bit(&self) -> u32 {
        self.name.bit
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn tracker(&self) -> &Arc<CallTracker> {
        &self.name.tracker
    }

    pub(crate) fn handlers(&self) -> usize {
        self.handlers.load(Ordering::Relaxed)
    }

    pub(crate) fn gained(&self) {
        self.handlers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) {
        self.handlers.fetch_sub(1, Ordering::Relaxed);
    }
}
