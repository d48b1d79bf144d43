//! The plugins that a registry knows.

use std::fmt;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::plugin::any::About;
use crate::plugin::id::PluginId;
use crate::plugin::lifecycle::Stop;
use crate::plugin::tracker::CallTracker;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// A plugin id with its bit in the scopes of one registry.
///
/// Entries and scopes share it; when the last of them is dropped the bit can be
/// assigned to another id.
pub(crate) struct PluginName {
    id: PluginId,
    bit: u32,
    /// All handlers of the plugin, of every generation.
    tracker: Arc<CallTracker>,
    /// The stops of generations that were removed, with those, as long as there is
    /// anything to run or to wait for.
    stops: Mutex<Vec<(u64, Weak<Stop>)>>,
    free: Arc<Mutex<Vec<u32>>>,
}

impl PluginName {
    pub(crate) fn new(id: PluginId, bit: u32, free: Arc<Mutex<Vec<u32>>>) -> Self {
        let (tracker, stops) = (Arc::new(CallTracker::new()), Mutex::default());
        Self { id, bit, tracker, stops, free }
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

    /// The stops of removed generations up to that one that have not ended.
    pub(crate) fn stops(&self, newest: u64) -> Vec<Arc<Stop>> {
        let known = self.known_stops().clone();
        let known = known.iter().filter(|(generation, _)| *generation <= newest);
        let left = known.filter_map(|(_, stop)| stop.upgrade());
        left.filter(|stop| !stop.has_ended()).collect()
    }

    fn known_stops(&self) -> MutexGuard<'_, Vec<(u64, Weak<Stop>)>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
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
    about: About,
    since: Instant,
    /// Its `#[stop]`, from its installation until its removal.
    stop: Mutex<Option<Arc<Stop>>>,
}

impl PluginRecord {
    pub(crate) fn new(name: Arc<PluginName>, generation: u64, about: About) -> Self {
        let (handlers, since) = (AtomicUsize::new(0), Instant::now());
        Self { name, generation, handlers, about, since, stop: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &Arc<PluginName> {
        &self.name
    }

    /// It is installed: its stop is to be run when it is removed.
    pub(crate) fn owes(&self, stop: Option<Arc<Stop>>) {
        if let Some(stop) = &stop {
            stop.is_owed_by(self.generation);
        }
        *self.stop.lock().unwrap_or_else(PoisonError::into_inner) = stop;
    }

    /// Whether its stop is to be run when it is removed.
    pub(crate) fn is_to_be_stopped(&self) -> bool {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// It is removed: its stop is run by the wait for that.
    pub(crate) fn take_stop(&self) -> Option<Arc<Stop>> {
        let stop = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let mut known = self.name.known_stops();
        known.retain(|(_, known)| known.strong_count() > 0);
        known.push((self.generation, Arc::downgrade(&stop)));
        Some(stop)
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

    pub(crate) fn about(&self) -> &About {
        &self.about
    }

    /// How long ago the generation began.
    pub(crate) fn age(&self) -> Duration {
        self.since.elapsed()
    }

    pub(crate) fn gained(&self) {
        self.handlers.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) {
        self.handlers.fetch_sub(1, Ordering::Relaxed);
    }
}
