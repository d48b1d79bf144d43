//! The registry: points, handlers, and the ways to change them.

pub(crate) mod audit;
mod builder;
pub(crate) mod entry;
pub(crate) mod handle;
pub(crate) mod introspect;
pub(crate) mod order;
pub(crate) mod store;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

pub use builder::HookRegistryBuilder;
pub(crate) use builder::Settings;

use crate::error::RegisterError;
use crate::handler::registration::{IntoRegistrations, Registration};
use crate::observe::{ObservedHandler, Observer, tell};
use crate::plugin::id::{PluginId, PluginIdError};
use crate::plugin::quota::Quota;
use crate::plugin::record::{PluginName, PluginRecord};
use crate::plugin::removal::PluginRemoval;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::registry::entry::{Entry, Owner};
use crate::registry::handle::{Handle, Handles};
use crate::registry::store::{Batch, Change, Store};
use crate::snapshot::{Published, Root};
use crate::sync::{Mutex, MutexGuard};
use crate::table::Table;

/// The hooks of a program: what is registered, and the means to fire.
///
/// Cheap to clone and to share; clones are the same registry. Fires, and
/// everything else that a scoped view can do, come through
/// [`ScopedHooks`], to which this derefs with a scope that admits everyone.
#[derive(Clone)]
pub struct HookRegistry {
    everyone: ScopedHooks,
}

/// The registry itself, behind the `Arc`.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) table: Table,
    pub(crate) published: Published,
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
            published: Published::default(),
            settings,
            store: Mutex::default(),
        };
        Self { everyone: ScopedHooks { inner: Arc::new(inner), bits: None } }
    }

    /// The settings of a registry to be.
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
    /// quota; `Quota::new()` takes that away again. What it has registered stays.
    pub fn set_quota(&self, plugin: &str, quota: Quota) -> Result<(), PluginIdError> {
        let id = PluginId::new(plugin)?;
        self.inner.store().set_quota(id, quota);
        Ok(())
    }

    /// Removes all handlers of a plugin at one instant: a fire that starts
    /// later sees none of them, a fire under way ends those it has begun and
    /// starts no more of them.
    ///
    /// The result tells how many there were, and can wait until none of them
    /// is running: `hooks.unregister_plugin("audit").drained().await?`.
    pub fn unregister_plugin(&self, id: impl AsRef<str>) -> PluginRemoval {
        self.inner.unregister_plugin(id.as_ref())
    }
}

impl ScopedHooks {
    /// Whether anybody, in this scope or not, listens at `P`.
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

    /// Registers a plugin's handlers, with the record of its stay. With
    /// `replace`, the plugin of that id leaves in the same instant.
    pub(crate) fn install(
        self: &Arc<Self>,
        group: Vec<Registration>,
        id: Option<&str>,
        replace: bool,
    ) -> Result<(Handles, Option<Arc<PluginRecord>>), RegisterError> {
        let mut batch = Batch::new(group);
        let (commit, record) = {
            let mut store = self.store();
            let installed = id.and_then(|id| store.plugin(id)).map(|plugin| plugin.stay());
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

    /// Removes handlers at one instant; says how many were still there.
    pub(crate) fn unregister<'h>(&self, handles: impl Iterator<Item = &'h Handle>) -> usize {
        // Dropped after the lock is released: each may be the last reference.
        let entries: Vec<_> = handles.filter_map(Handle::entry).collect();
        let removed = {
            let mut store = self.store();
            let change = store.remove(&entries);
            (!change.removed.is_empty()).then(|| self.publish(&store, change))
        };
        removed.map_or(0, |removed| removed.close(&self.settings.observers))
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
        let count = removed.map_or(0, |removed| removed.close(&self.settings.observers));
        let timer = Arc::clone(&self.settings.timer);
        PluginRemoval::of(Owner::Plugin(name.id().clone()), count, Arc::clone(name.crowd()), timer)
    }

    /// Removes the handlers of one stay, if it lasts still.
    pub(crate) fn unregister_stay(&self, id: &str, stay: u64) -> usize {
        let removed = {
            let mut store = self.store();
            let change = store.remove_plugin(id, Some(stay));
            change.map(|change| self.publish(&store, change))
        };
        removed.map_or(0, |removed| removed.close(&self.settings.observers))
    }

    /// Makes a change visible, at one instant.
    fn publish(&self, store: &Store, change: Change) -> Commit {
        let mut root = (*self.published.current()).clone();
        for &index in &change.points {
            if root.lists.len() <= index {
                root.lists.resize(index + 1, None);
            }
            // A point that everybody has left is as one that nobody came to.
            let point = store.points().get(&index).filter(|point| !point.order.is_empty());
            root.lists[index] = point.map(|point| point.list.clone());
        }
        let old = self.published.swap(root);
        let crowd = |entry: &Entry| entry.crowd.as_ref().map(Arc::as_ptr);
        for together in change.removed.chunk_by(|one, next| crowd(one) == crowd(next)) {
            if let Some(crowd) = &together[0].crowd {
                crowd.leave(together);
            }
        }
        for &index in &change.points {
            let len = store.points().get(&index).map_or(0, |point| point.order.len());
            self.table.get(index).set_len(len);
        }
        Commit { change, _displaced: old }
    }

    /// The bits of plugin ids; an id that cannot be one is nobody's.
    pub(crate) fn names_of(&self, ids: &[String]) -> Vec<Arc<PluginName>> {
        let mut store = self.store();
        for id in ids {
            store.asked_for(id);
        }
        ids.iter().filter_map(|id| PluginId::new(id).ok()).map(|id| store.name(&id)).collect()
    }
}

/// A change that is visible, with what it displaced: dropped by whoever asked
/// for it, after the lock.
struct Commit {
    change: Change,
    _displaced: Arc<Root>,
}

impl Commit {
    /// Lets fires under way start no more of the removed handlers. Only after
    /// publication: a fire that starts in between must not see half of them.
    /// The last one first: a fire that finds one closed finds all closed that
    /// it comes to later.
    fn close(&self, observers: &[Arc<dyn Observer>]) -> usize {
        for entry in self.change.removed.iter().rev() {
            entry.presence.close();
        }
        self.announce(observers);
        self.change.removed.len()
    }

    /// Tells observers who came and who went.
    fn announce(&self, observers: &[Arc<dyn Observer>]) {
        for entry in &self.change.removed {
            tell(observers, |observer| observer.removed(&ObservedHandler::new(entry)));
        }
        for (_, entry) in &self.change.added {
            tell(observers, |observer| observer.registered(&ObservedHandler::new(entry)));
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
        &self.everyone
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
