//! The registry: points, handlers, and the ways to change them.

pub(crate) mod audit;
mod builder;
mod counters;
pub(crate) mod entry;
pub(crate) mod handle;
pub(crate) mod introspect;
pub(crate) mod list;
pub(crate) mod order;
pub(crate) mod snapshot;
pub(crate) mod store;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, Weak};

pub use builder::HookRegistryBuilder;
pub(crate) use builder::Settings;

use crate::engine::raw::SnapshotCell;
use crate::error::RegisterError;
use crate::handler::registration::{IntoRegistrations, Registration};
use crate::observe::{ObservedHandler, Observer, notify};
use crate::plugin::id::{PluginId, PluginIdError};
use crate::plugin::quota::Quota;
use crate::plugin::record::{PluginName, PluginRecord};
use crate::plugin::removal::PluginRemoval;
use crate::plugin::scope::ScopedHooks;
use crate::plugin::tracker::{self, CallTracker};
use crate::point::HookPoint;
use crate::point::table::Table;
use crate::registry::entry::{Entry, Owner};
use crate::registry::handle::{Handle, Handles};
use crate::registry::snapshot::Snapshot;
use crate::registry::store::{Batch, Change, Store};
use crate::sync::{Mutex, MutexGuard};

/// The hooks of a program: what is registered, and the means to fire.
///
/// Cheap to clone and to share; clones are the same registry. Fires, and
/// everything else that a scoped view can do, come through
/// [`ScopedHooks`], to which this derefs with a scope that admits every owner.
#[derive(Clone)]
pub struct HookRegistry {
    unscoped: ScopedHooks,
}

/// The registry itself, behind the `Arc`.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) table: Table,
    pub(crate) published: SnapshotCell<Snapshot>,
    pub(crate) settings: Settings,
    store: Mutex<Store>,
}

impl HookRegistry {
    /// An empty registry with the default settings.
    pub fn new() -> Self {
        Self::builder().build()
    }

    fn with(settings: Settings) -> Self {
        let inner = Inner {
            table: Table::new(!settings.observers.is_empty()),
            published: SnapshotCell::new(Snapshot::default()),
            settings,
            store: Mutex::default(),
        };
        Self { unscoped: ScopedHooks { inner: Arc::new(inner), bits: None } }
    }

    /// Starts a registry with other settings.
    pub fn builder() -> HookRegistryBuilder {
        HookRegistryBuilder::new()
    }

    /// Registers a group of handlers, whole or not at all.
    ///
    /// Takes what [`handlers!`](crate::handlers) lists, or what
    /// [`on`](crate::on) makes, one or many.
    pub fn register(&self, handlers: impl IntoRegistrations) -> Result<Handles, RegisterError> {
        self.inner.register(handlers.into_registrations())
    }

    pub(crate) fn register_one(&self, one: Registration) -> Result<Handle, RegisterError> {
        let mut handles = self.register(one)?.0;
        Ok(handles.pop().expect("a group of one has one handle"))
    }

    /// Sets what a plugin may register from now on, in place of its earlier
    /// quota; `Quota::new()` removes all limits. What it has registered stays.
    pub fn set_quota(&self, plugin: &str, quota: Quota) -> Result<(), PluginIdError> {
        let id = PluginId::new(plugin)?;
        self.inner.store().set_quota(id, quota);
        Ok(())
    }

    /// Removes all handlers of a plugin at one instant: a fire that starts
    /// later sees none of them, a fire under way ends the calls it has started and
    /// starts no others of them.
    ///
    /// The result says how many there were, and can wait until none of them
    /// is running: `hooks.unregister_plugin("audit").drained().await?`.
    pub fn unregister_plugin(&self, id: impl AsRef<str>) -> PluginRemoval {
        self.inner.unregister_plugin(id.as_ref())
    }
}

impl ScopedHooks {
    /// Whether `P` has any handlers, in this scope or not.
    #[inline]
    pub fn has_handlers<P: HookPoint>(&self) -> bool {
        self.inner.table.get(P::descriptor().index()).has_handlers()
    }
}

impl Inner {
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn register(
        self: &Arc<Self>,
        group: Vec<Registration>,
    ) -> Result<Handles, RegisterError> {
        // Declared before the lock is taken, so dropped after it: see `Batch`.
        let mut batch = Batch::new(group);
        let commit = {
            let mut store = self.store();
            let change = store.register(&mut batch, &self.settings)?;
            self.publish(&store, change)
        };
        commit.announce(&self.settings.observers);
        Ok(commit.handles(self))
    }

    /// Registers a plugin's handlers, with the record of its generation. With
    /// `replace`, the plugin of that id is removed in the same instant.
    pub(crate) fn install(
        self: &Arc<Self>,
        group: Vec<Registration>,
        id: Option<&str>,
        replace: bool,
    ) -> Result<(Handles, Option<Arc<PluginRecord>>), RegisterError> {
        let mut batch = Batch::new(group);
        let (commit, record) = {
            let mut store = self.store();
            let installed = id.and_then(|id| store.plugin(id)).map(|plugin| plugin.generation());
            if let (Some(id), Some(_), false) = (id, installed, replace) {
                return Err(RegisterError::Installed { plugin: id.to_owned() });
            }
            batch.instead_of(installed);
            let change = store.register(&mut batch, &self.settings)?;
            let record = id.and_then(|id| store.plugin(id)).cloned();
            (self.publish(&store, change), record)
        };
        commit.announce(&self.settings.observers);
        Ok((commit.handles(self), record))
    }

    /// Removes handlers at one instant; returns how many were still registered.
    pub(crate) fn unregister<'h>(&self, handles: impl Iterator<Item = &'h Handle>) -> usize {
        // Dropped after the lock is released: each may be the last reference.
        let entries: Vec<_> = handles.filter_map(Handle::entry).collect();
        let removed = {
            let mut store = self.store();
            let change = store.remove(&entries);
            (!change.removed.is_empty()).then(|| self.publish(&store, change))
        };
        removed.map_or(0, |removed| self.close(&removed))
    }

    fn unregister_plugin(&self, id: &str) -> PluginRemoval {
        let (name, removed) = {
            let mut store = self.store();
            store.asked_for(id);
            let change = store.remove_plugin(id, None);
            (store.known_name(id), change.map(|change| self.publish(&store, change)))
        };
        let Some(name) = name else {
            return PluginRemoval::nothing();
        };
        let count = removed.map_or(0, |removed| self.close(&removed));
        self.removal(Owner::Plugin(name.id().clone()), count, name.tracker())
    }

    /// Removes the handlers of one generation, if it is the current one.
    pub(crate) fn unregister_generation(&self, id: &str, generation: u64) -> usize {
        let removed = {
            let mut store = self.store();
            let change = store.remove_plugin(id, Some(generation));
            change.map(|change| self.publish(&store, change))
        };
        removed.map_or(0, |removed| self.close(&removed))
    }

    /// Makes a change visible, at one instant.
    fn publish(&self, store: &Store, change: Change) -> Commit {
        let displaced = self.published.update(|snapshot| {
            let mut lists = snapshot.lists.clone();
            for &index in &change.points {
                if lists.len() <= index {
                    lists.resize(index + 1, None);
                }
                // A point without handlers is like one that never had any.
                let point = store.points().get(&index).filter(|point| !point.order.is_empty());
                lists[index] = point.map(|point| Arc::clone(&point.list));
            }
            Snapshot { lists }
        });
        let tracker = |entry: &Entry| entry.tracker.as_ref().map(Arc::as_ptr);
        for together in change.removed.chunk_by(|one, next| tracker(one) == tracker(next)) {
            if let Some(tracker) = &together[0].tracker {
                tracker.removed(together);
            }
        }
        for &index in &change.points {
            let len = store.points().get(&index).map_or(0, |point| point.order.len());
            self.table.get(index).set_len(len);
        }
        Commit { change, _displaced: displaced }
    }

    /// Closes the removed handlers, so that fires under way start no more of them,
    /// and releases those that nothing runs; returns how many were removed. Only
    /// after publication: a fire that starts in between must not see half of them.
    fn close(&self, commit: &Commit) -> usize {
        self.close_entries(&commit.change.removed);
        commit.announce(&self.settings.observers);
        commit.change.removed.len()
    }

    fn close_entries(&self, entries: &[Arc<Entry>]) {
        // The last one first: a fire that finds one closed finds all later ones
        // closed.
        for entry in entries.iter().rev() {
            entry.handler.close();
        }
        // Handlers of one point come together, mostly.
        let mut points: Vec<_> = entries.iter().map(|entry| entry.point.index()).collect();
        points.dedup();
        points.sort_unstable();
        points.dedup();
        for index in points {
            self.table.get(index).handlers_closed();
        }
        for entry in entries {
            entry.handler.allow_release();
        }
        tracker::release(entries);
    }

    /// The removal of handlers that are waited for together: also of those that
    /// were replaced or removed before.
    pub(crate) fn removal(
        &self,
        owner: Owner,
        count: usize,
        tracker: &Arc<CallTracker>,
    ) -> PluginRemoval {
        let handlers = tracker.removed_so_far();
        // Counted outside the tracker's lock: the last reference to an entry must
        // not be dropped under it.
        let known = handlers.iter().filter_map(Weak::upgrade);
        let open: Vec<_> = known.filter(|entry| !entry.is_closed()).collect();
        self.close_entries(&open);
        let timer = Arc::clone(&self.settings.timer);
        PluginRemoval::new(owner, count, Arc::clone(tracker), handlers, timer)
    }

    /// The bits of plugin ids; a text that cannot be an id has none.
    pub(crate) fn names_of(&self, ids: &[String]) -> Vec<Arc<PluginName>> {
        let mut store = self.store();
        for id in ids {
            store.asked_for(id);
        }
        ids.iter().filter_map(|id| PluginId::new(id).ok()).map(|id| store.name(&id)).collect()
    }
}

/// A published change, with what it displaced: dropped by the caller, after the
/// lock is released.
struct Commit {
    change: Change,
    _displaced: Vec<Arc<Snapshot>>,
}

impl Commit {
    /// Notifies observers of the removed and the registered handlers.
    fn announce(&self, observers: &[Arc<dyn Observer>]) {
        for entry in &self.change.removed {
            notify(observers, |observer| observer.removed(&ObservedHandler::new(entry)));
        }
        for (_, entry) in &self.change.added {
            notify(observers, |observer| observer.registered(&ObservedHandler::new(entry)));
        }
    }

    fn handles(&self, inner: &Arc<Inner>) -> Handles {
        let added = self.change.added.iter();
        Handles(added.map(|(index, entry)| Handle::new(inner, *index, entry)).collect())
    }
}

impl Deref for HookRegistry {
    type Target = ScopedHooks;

    #[inline]
    fn deref(&self) -> &ScopedHooks {
        &self.unscoped
    }
}

impl Default for HookRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HookRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookRegistry").finish_non_exhaustive()
    }
}
