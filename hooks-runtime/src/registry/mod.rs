//! The registry: points, handlers, and the ways to change them.

pub(crate) mod audit;
mod builder;
#[cfg(feature = "replay")]
pub(crate) mod copy;
mod counters;
pub(crate) mod entry;
pub(crate) mod handle;
pub(crate) mod handler_counters;
mod install;
pub(crate) mod introspect;
pub(crate) mod list;
pub(crate) mod order;
mod remove;
pub(crate) mod shards;
pub(crate) mod snapshot;
pub(crate) mod store;

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError};

pub use audit::{
    Audit, DropReason, DroppedConstraint, NeverCalled, NeverCalledReason, UnknownConstraint,
    UnknownPlugin,
};
pub use builder::HookRegistryBuilder;
pub(crate) use builder::RegistryConfig;
pub use entry::Owner;
pub use handle::{Handle, Handles, ScopedHandle};
pub use handler_counters::{FailureCounts, SkipCounts};
pub use introspect::{HandlerInfo, OrderReason};

#[cfg(feature = "tokio")]
use crate::background::BackgroundTasks;
use crate::engine::raw::SnapshotCell;
use crate::error::RegisterError;
use crate::handler::registration::{IntoRegistrations, Registration};
use crate::observe::recorder::{Recorder, next_id};
use crate::observe::{ObservedHandler, notify};
use crate::operator::trace::TraceList;
use crate::operator::{BreakGlass, Setting, withheld};
use crate::plugin::id::{PluginId, PluginIdError};
use crate::plugin::lifecycle::Stop;
use crate::plugin::quota::Quota;
use crate::plugin::record::{PluginName, PluginRecord};
use crate::plugin::removal::Removal;
use crate::plugin::scope::ScopedHooks;
use crate::point::HookPoint;
use crate::point::table::Table;
#[cfg(feature = "record")]
use crate::record::RecordingSlot;
use crate::registry::entry::Entry;
use crate::registry::snapshot::Snapshot;
use crate::registry::store::{Batch, Change, Store};
use crate::sync::statics::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// The hooks of a program: what is registered, and the means to fire.
///
/// Cheap to clone and to share; clones are the same registry. Fires, and
/// everything else that a scoped view can do, come through
/// [`ScopedHooks`], to which this derefs with a scope that admits every owner.
///
/// ```
/// # use hooks_runtime::{HookRegistry, hook_points};
/// # hook_points! { pub void Saved { page: u32 } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let hooks = HookRegistry::new();
/// let in_the_editor = hooks.clone(); // the same registry
/// in_the_editor.register_void::<Saved>(async |_: &SavedPayload| ())?;
/// hooks.fire_void::<Saved>(&SavedPayload { page: 1 }).await?;
/// assert_eq!(in_the_editor.handlers()[0].calls, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct HookRegistry {
    unscoped: ScopedHooks,
}

/// The registry itself, behind the `Arc`.
#[derive(Debug)]
pub(crate) struct Inner {
    /// Identifies the registry; never zero, and never reused.
    pub(crate) id: usize,
    pub(crate) table: Table,
    pub(crate) published: SnapshotCell<Snapshot>,
    pub(crate) config: RegistryConfig,
    store: Mutex<Store>,
    /// For reports.
    pub(crate) break_glass: BreakGlass,
    pub(crate) traces: TraceList,
    #[cfg(feature = "record")]
    pub(crate) recording: RecordingSlot,
    #[cfg(feature = "tokio")]
    pub(crate) background: BackgroundTasks,
}

static NEXT_ID: AtomicUsize = AtomicUsize::new(1);

impl HookRegistry {
    /// An empty registry with the default configuration.
    pub fn new() -> Self {
        Self::builder().build()
    }

    fn new_with(config: RegistryConfig) -> Self {
        let inner = Inner {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            table: Table::new(!config.observers.is_empty()),
            published: SnapshotCell::new(Snapshot::default()),
            config,
            store: Mutex::default(),
            break_glass: BreakGlass::default(),
            traces: TraceList::default(),
            #[cfg(feature = "record")]
            recording: RecordingSlot::default(),
            #[cfg(feature = "tokio")]
            background: BackgroundTasks::default(),
        };
        Self { unscoped: ScopedHooks { inner: Arc::new(inner), bits: None, values: None } }
    }

    /// Starts a registry with another configuration.
    ///
    /// The example of [`HookRegistryBuilder`] has some of them.
    pub fn builder() -> HookRegistryBuilder {
        HookRegistryBuilder::new()
    }

    /// Registers a group of handlers, whole or not at all.
    ///
    /// Takes what [`handlers!`](crate::handlers) lists, or what
    /// [`on`](crate::on) makes, one or many.
    ///
    /// The example of [`handlers!`](crate::handlers) lists functions, that of [`On`](crate::handler::On) closures.
    pub fn register(&self, handlers: impl IntoRegistrations) -> Result<Handles, RegisterError> {
        self.inner.register(handlers.into_registrations())
    }

    pub(crate) fn register_one(&self, one: Registration) -> Result<Handle, RegisterError> {
        let mut handles = self.register(one)?.0;
        Ok(handles.pop().expect("a group of one has one handle"))
    }

    /// Sets what a plugin may register from now on, in place of its earlier
    /// quota; `Quota::new()` removes all limits. What it has registered stays.
    ///
    /// The example of [`Quota`] sets one.
    pub fn set_quota(&self, plugin: &str, quota: Quota) -> Result<(), PluginIdError> {
        let id = PluginId::new(plugin)?;
        self.inner.store().set_quota(id, quota);
        Ok(())
    }

    /// Removes all handlers of a plugin at one instant: a fire that starts
    /// later sees none of them, a fire under way ends the calls it has started and
    /// starts no others of them.
    ///
    /// A run of a flow in which the plugin has run a stage still gives it its
    /// `OnError` and `Finally`, so that it can close what it opened.
    ///
    /// The result says how many there were; awaited, it waits until nothing of them
    /// is left: `hooks.unregister_plugin("audit").await`.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().plugin("audit").handler(|_: &SavedPayload| ()))?;
    /// let outcome = hooks.unregister_plugin("audit").await;
    /// assert_eq!(outcome.removed(), 1);
    /// assert!(!hooks.is_installed("audit"));
    /// # Ok(()) }
    /// ```
    pub fn unregister_plugin(&self, id: impl AsRef<str>) -> Removal {
        self.inner.unregister_plugin(id.as_ref())
    }

    /// Removes these handlers at one instant, whenever and with whatever group each was
    /// registered. A handle of another registry removes nothing.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let first = hooks.register(on::<Saved>().name("index").handler(|_: &SavedPayload| ()))?;
    /// let second = hooks.register(on::<Saved>().name("copy").handler(|_: &SavedPayload| ()))?;
    /// let both = first.into_iter().chain(second);
    /// assert_eq!(hooks.unregister(both).removed(), 2);
    /// # Ok(()) }
    /// ```
    pub fn unregister(&self, handles: impl IntoIterator<Item = Handle>) -> Removal {
        let own = handles.into_iter().filter(|handle| handle.is_of(&self.inner));
        self.inner.unregister(&own.collect::<Vec<_>>())
    }

    /// Removes these handlers and registers a group of others, at one instant: no fire sees
    /// some of both. A group that is refused removes nothing; one that takes the name of a
    /// handler that goes [replaces](crate::handler::On::replace) it. What goes does not count
    /// towards the [`Quota`] of its plugin. As with [`unregister`](Self::unregister), a handle
    /// that is given twice, and one of another registry, change nothing.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let old = hooks.register(on::<Saved>().name("index").handler(|_: &SavedPayload| ()))?;
    /// let new = on::<Saved>().name("search").handler(|_: &SavedPayload| ());
    /// let (handles, removal) = hooks.exchange(old, new)?;
    /// assert_eq!((handles.len(), removal.removed()), (1, 1));
    /// assert_eq!(&*hooks.handlers_at::<Saved>()[0].name, "search");
    /// # Ok(()) }
    /// ```
    pub fn exchange(
        &self,
        leaving: impl IntoIterator<Item = Handle>,
        handlers: impl IntoRegistrations,
    ) -> Result<(Handles, Removal), RegisterError> {
        let own = leaving.into_iter().filter(|handle| handle.is_of(&self.inner));
        self.inner.exchange(&own.collect::<Vec<_>>(), handlers.into_registrations())
    }

    /// Removes the handlers of that name at all points, at one instant.
    ///
    /// `"audit/started"` is the handler `started` of the plugin `audit`, `"audit/*"`
    /// all of its handlers, as for [`unregister_plugin`](Self::unregister_plugin), and
    /// `"started"` the built-in one. A plugin without handlers is removed.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// let saved = || on::<Saved>().name("saved");
    /// hooks.register([
    ///     saved().handler(|_: &SavedPayload| ()),
    ///     saved().plugin("audit").handler(|_: &SavedPayload| ()),
    /// ])?;
    /// assert_eq!(hooks.unregister_handler("audit/saved").removed(), 1);
    /// assert_eq!(hooks.unregister_handler("saved").removed(), 1);
    /// # Ok(()) }
    /// ```
    pub fn unregister_handler(&self, name: impl AsRef<str>) -> Removal {
        self.inner.unregister_named(name.as_ref(), None)
    }

    /// Removes the handler of that name at `P`, which is found as for
    /// [`unregister_handler`](Self::unregister_handler).
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points, on};
    /// # hook_points! { pub void Saved { page: u32 }  pub void Closed { page: u32 } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// hooks.register(on::<Saved>().name("log").handler(|_: &SavedPayload| ()))?;
    /// hooks.register(on::<Closed>().name("log").handler(|_: &ClosedPayload| ()))?;
    /// assert_eq!(hooks.unregister_handler_at::<Closed>("log").removed(), 1);
    /// assert!(hooks.has_handlers::<Saved>());
    /// # Ok(()) }
    /// ```
    pub fn unregister_handler_at<P: HookPoint>(&self, name: impl AsRef<str>) -> Removal {
        self.inner.unregister_named(name.as_ref(), Some(P::descriptor().index()))
    }
}

impl ScopedHooks {
    /// Whether `P` has any handlers, in this scope or not.
    ///
    /// ```
    /// # use hooks_runtime::{HookRegistry, hook_points};
    /// # hook_points! { pub void Traced { line: String } }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hooks = HookRegistry::new();
    /// assert!(!hooks.has_handlers::<Traced>()); // no need to prepare anything
    /// hooks.register_void::<Traced>(async |_: &TracedPayload| ())?;
    /// assert!(hooks.has_handlers::<Traced>());
    /// # Ok(()) }
    /// ```
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
            let change = store.register(&mut batch, &self.config)?;
            self.publish(&mut store, change)
        };
        commit.announce(self);
        Ok(commit.handles(self))
    }

    /// Makes a change visible, at one instant.
    fn publish(&self, store: &mut Store, change: Change) -> Commit {
        store.settings.forget_handlers(&change.removed);
        let displaced = self.published.update(|snapshot| {
            let mut lists = snapshot.lists.clone();
            for &index in &change.points {
                if lists.len() <= index {
                    lists.resize(index + 1, None);
                }
                // A point without handlers is like one that never had any.
                lists[index] = store.list(index);
            }
            Snapshot { lists }
        });
        let is_together = |one: &Arc<Entry>, next: &Arc<Entry>| one.is_tracked_with(next);
        for together in change.removed.chunk_by(is_together) {
            together[0].tracker.removed(together);
        }
        for &index in &change.points {
            let len = store.points().get(&index).map_or(0, |point| point.order.len());
            self.table.get(index).set_len(len);
        }
        // Under the lock: a removal that finds the plugin gone finds its stop.
        let stop = |plugin: &Arc<PluginRecord>| Some((Arc::clone(plugin), plugin.take_stop()?));
        let stops = change.left.iter().filter_map(stop).collect();
        let withheld = change.added.iter().flat_map(|(_, entry)| {
            let settings = store.settings.withheld(entry).into_iter();
            settings.map(|setting| (setting, Arc::clone(entry)))
        });
        let withheld = withheld.collect();
        Commit { change, stops, withheld, _displaced: displaced }
    }

    /// Makes a change of settings visible for the handlers of those points, at one
    /// instant.
    pub(crate) fn publish_settings(
        &self,
        store: &mut Store,
        points: impl Iterator<Item = usize>,
    ) -> Commit {
        let mut points: Vec<_> = points.collect();
        points.sort_unstable();
        points.dedup();
        self.break_glass.set(store.settings.all());
        #[cfg(feature = "record")]
        self.recording.settings_changed();
        self.publish(store, Change { points, ..Change::default() })
    }

    /// The number by which samples of that fire are taken.
    #[cold]
    #[cfg_attr(not(feature = "replay"), expect(clippy::unused_self, reason = "a replay has it"))]
    pub(crate) fn sample_number(&self, recorder: Option<&Recorder<'_>>) -> u64 {
        let own = recorder.map_or_else(next_id, Recorder::id);
        #[cfg(feature = "replay")]
        if let Some(replay) = &self.config.replay {
            return replay.number(own);
        }
        own
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
pub(crate) struct Commit {
    change: Change,
    /// The plugins that left with it and have a stop.
    stops: Vec<(Arc<PluginRecord>, Arc<Stop>)>,
    /// The settings that do not apply to handlers which came with it.
    withheld: Vec<(Setting, Arc<Entry>)>,
    _displaced: Vec<Arc<Snapshot>>,
}

impl Commit {
    /// Notifies observers of the removed and the registered handlers.
    fn announce(&self, inner: &Inner) {
        let observers = &inner.config.observers;
        #[cfg(feature = "record")]
        inner.record_handlers(&self.change.points);
        for entry in &self.change.removed {
            notify(observers, |observer| observer.removed(&ObservedHandler::new(entry)));
        }
        for (_, entry) in &self.change.added {
            notify(observers, |observer| observer.registered(&ObservedHandler::new(entry)));
        }
        for (setting, entry) in &self.withheld {
            withheld(setting, entry, inner);
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
