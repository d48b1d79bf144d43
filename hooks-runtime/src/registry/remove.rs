//! Handlers that leave the registry: one by one, as a plugin or as a block.

use std::sync::Arc;

use crate::engine::raw::EntryRef;
use crate::error::RegisterError;
use crate::handler::registration::Registration;
use crate::plugin::id::PluginId;
use crate::plugin::leaving::Leaving;
use crate::plugin::lifecycle::Stop;
use crate::plugin::removal::Removal;
use crate::plugin::tracker::{self, CallTracker};
use crate::registry::entry::{Entry, Owner};
use crate::registry::handle::{Handle, Handles};
use crate::registry::order::Wanted;
use crate::registry::store::{Batch, Store};
use crate::registry::{Commit, Inner};

impl Inner {
    /// Removes handlers at one instant.
    pub(crate) fn unregister(&self, handles: &[Handle]) -> Removal {
        let entries = handles.iter().filter_map(Handle::entry).collect();
        self.unregister_found(|_| entries).and(Handle::left_of(handles))
    }

    pub(super) fn unregister_named(&self, name: &str, at: Option<usize>) -> Removal {
        // All handlers of a plugin are the plugin.
        if let (Wanted::All(plugin), None) = (Wanted::parse(name), at) {
            return self.unregister_plugin(plugin);
        }
        let mut before = Vec::new();
        let removal = self.unregister_found(|store| {
            before = store.left_of(name, at);
            store.named(name, at)
        });
        removal.and(before)
    }

    /// Removes a handler that was to be called once, and was.
    #[cold]
    pub(crate) fn unregister_called(&self, entry: &EntryRef) {
        let entry = entry.to_arc();
        drop(self.unregister_found(|_| vec![(entry.point.index(), entry)]));
    }

    fn unregister_found(&self, find: impl FnOnce(&Store) -> Vec<(usize, Arc<Entry>)>) -> Removal {
        // Dropped after the lock is released: each may be the last reference.
        let entries;
        let removed = {
            let mut store = self.store();
            entries = find(&store);
            let change = store.remove(&entries);
            (!change.removed.is_empty()).then(|| self.publish(&mut store, change))
        };
        let now = removed.as_ref().map_or(&[][..], |commit| &commit.change.removed);
        let entries = entries.into_iter().map(|(_, entry)| entry).collect();
        self.removal_of_found(removed.as_ref(), now, now.len(), entries)
    }

    /// Removes handlers and registers others, at one instant.
    pub(crate) fn exchange(
        self: &Arc<Self>,
        leaving: &[Handle],
        group: Vec<Registration>,
    ) -> Result<(Handles, Removal), RegisterError> {
        let entries: Vec<_> = leaving.iter().filter_map(Handle::entry).collect();
        // Declared before the lock is taken, so dropped after it: see `Batch`.
        let mut batch = Batch::new(group).removing(entries.clone());
        let commit = {
            let mut store = self.store();
            let change = store.register(&mut batch, &self.config)?;
            self.publish(&mut store, change)
        };
        let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
        // What is replaced anyway is closed with the others, but not counted.
        let now: Vec<_> = batch.left().cloned().collect();
        let removal = self.removal_of_found(Some(&commit), &now, batch.left_alone(), entries);
        Ok((commit.handles(self), removal.and(Handle::left_of(leaving))))
    }

    /// The removal of handlers, of which those of `now` have left with that change, so many of
    /// them by being removed.
    fn removal_of_found(
        &self,
        removed: Option<&Commit>,
        now: &[Arc<Entry>],
        count: usize,
        entries: Vec<Arc<Entry>>,
    ) -> Removal {
        // One by one: each is removed for itself, also from runs under way.
        self.close(now, |entry| entry.handler.shut());
        let (_, stops) = self.announce(removed);
        // A plugin that left with its last handler stops after all of its calls.
        let left = removed.into_iter().flat_map(|commit| &commit.stops);
        let whole = left.map(|(plugin, _)| {
            let (owner, generation) = (Owner::Plugin(plugin.id().clone()), plugin.generation());
            let handlers = plugin.tracker().removed_up_to(Some(generation));
            let handlers = handlers.into_iter().map(|(id, _)| id).collect();
            Leaving::whole(owner, plugin.tracker(), handlers, Some(generation))
        });
        let whole = whole.collect();
        self.removal_of(count, entries).and(whole).then_stopping(stops)
    }

    pub(super) fn unregister_plugin(&self, id: &str) -> Removal {
        let (name, newest, removed) = {
            let mut store = self.store();
            store.asked_for(id);
            let change = store.remove_plugin(id, None);
            let removed = change.map(|change| self.publish(&mut store, change));
            (store.known_name(id), store.newest_generation(), removed)
        };
        let Some(name) = name else {
            return Removal::nothing();
        };
        let owner = Owner::Plugin(name.id().clone());
        self.removal(owner, removed.as_ref(), name.tracker(), Some(newest))
            .then_stopping(name.stops(newest))
    }

    /// Removes the handlers of one generation of a plugin, if it is the current
    /// one.
    pub(crate) fn unregister_generation(
        &self,
        id: &PluginId,
        generation: u64,
        tracker: &Arc<CallTracker>,
    ) -> Removal {
        let (name, removed) = {
            let mut store = self.store();
            let change = store.remove_plugin(id.as_str(), Some(generation));
            (store.known_name(id.as_str()), change.map(|change| self.publish(&mut store, change)))
        };
        let owner = Owner::Plugin(id.clone());
        let removal = self.removal(owner, removed.as_ref(), tracker, Some(generation));
        // Without a name, nothing of any generation is left but calls under way.
        removal.then_stopping(name.map_or_else(Vec::new, |name| name.stops(generation)))
    }

    /// Removes the handlers of a block of built-in ones.
    pub(crate) fn unregister_block(
        &self,
        handles: &Handles,
        tracker: &Arc<CallTracker>,
    ) -> Removal {
        let entries: Vec<_> = handles.iter().filter_map(Handle::entry).collect();
        let removed = {
            let mut store = self.store();
            let change = store.remove(&entries);
            (!change.removed.is_empty()).then(|| self.publish(&mut store, change))
        };
        self.removal(Owner::BuiltIn, removed.as_ref(), tracker, None)
    }

    /// Notifies observers of a removal, once its handlers are closed; returns how
    /// many were removed, and the stops of the plugins that left with them.
    fn announce(&self, removed: Option<&Commit>) -> (usize, Vec<Arc<Stop>>) {
        let Some(commit) = removed else { return (0, Vec::new()) };
        commit.announce(self);
        let stops = commit.stops.iter().map(|(_, stop)| Arc::clone(stop));
        (commit.change.removed.len(), stops.collect())
    }

    /// Closes removed handlers, so that fires under way start no more of them, and
    /// releases those that nothing runs. Only after publication: a fire that
    /// starts in between must not see half of them.
    fn close(&self, entries: &[Arc<Entry>], close: impl Fn(&Entry)) {
        // The last one first: a fire that finds one closed finds all later ones
        // closed.
        for entry in entries.iter().rev() {
            close(entry);
        }
        // Handlers of one point come together, mostly.
        let mut points: Vec<_> = entries.iter().map(|entry| entry.point.index()).collect();
        points.dedup();
        points.sort_unstable();
        points.dedup();
        for index in points {
            self.table.handlers_closed(index);
        }
        for entry in entries {
            entry.handler.allow_release();
        }
        tracker::release(entries);
    }

    /// The removal of handlers that are waited for together: also of those that
    /// were replaced or removed before.
    fn removal(
        &self,
        owner: Owner,
        removed: Option<&Commit>,
        tracker: &Arc<CallTracker>,
        newest: Option<u64>,
    ) -> Removal {
        let now = removed.map_or(&[][..], |commit| &commit.change.removed);
        let handlers = tracker.removed_up_to(newest);
        let mut are_now: Vec<_> = now.iter().map(|entry| entry.id).collect();
        are_now.sort_unstable();
        // Counted outside the tracker's lock: the last reference to an entry must
        // not be dropped under it. Those of now are not looked at again: there may be
        // many, far apart in memory.
        let before = handlers.iter().filter(|(id, _)| are_now.binary_search(id).is_err());
        let before = before.filter_map(|(_, entry)| entry.upgrade());
        let before = before.filter(|entry| !entry.is_closed());
        // All at once: a run that begins with one of them comes to the others.
        let leaving: Vec<_> = before.chain(now.iter().cloned()).collect();
        self.close(&leaving, Entry::leave);
        let (count, stops) = self.announce(removed);
        let handlers = handlers.into_iter().map(|(id, _)| id).collect();
        let leaving = vec![Leaving::whole(owner, tracker, handlers, newest)];
        Removal::new(count, leaving, &self.config.timer).then_stopping(stops)
    }

    /// The removal of single handlers, none of which is registered any more.
    fn removal_of(&self, count: usize, mut entries: Vec<Arc<Entry>>) -> Removal {
        // Those that were replaced before, or that runs still come to.
        let open = entries.iter().filter(|entry| !entry.handler.is_shut()).cloned();
        self.close(&open.collect::<Vec<_>>(), |entry| entry.handler.shut());
        entries.retain(|entry| !entry.handler.is_released());
        entries.sort_unstable_by_key(|entry| (entry.tracker.id(), entry.id));
        let together = entries.chunk_by(|one, next| one.is_tracked_with(next));
        let leaving = together.map(Leaving::single).collect();
        Removal::new(count, leaving, &self.config.timer)
    }
}
