//! The registered handlers, as the writers see them.
//!
//! One lock, held only for bookkeeping: no code of the user runs under it,
//! and what a change removes is returned, to be dropped after it is released.

mod join;
mod known;
mod plan;
mod point;
mod sequence;

use std::collections::{BTreeMap, HashMap};
use std::iter;
use std::sync::{Arc, PoisonError, Weak};

use crate::error::NameClash;
use crate::flow::StageKind;
use crate::operator::Setting;
use crate::operator::store::SettingStore;
use crate::operator::target::Pattern;
use crate::plugin::id::PluginId;
use crate::plugin::leaving::Leaving;
use crate::plugin::quota::Quota;
use crate::plugin::record::{PluginName, PluginRecord};
use crate::plugin::tracker::{CallTracker, RemovedHandler};
use crate::point::PointDescriptor;
use crate::registry::entry::{Entry, Owner};
use crate::registry::list::HandlerList;
use crate::registry::order::Wanted;
use crate::suggest::nearest;
use crate::sync::Mutex;

#[cfg(feature = "replay")]
pub(crate) use join::Copied;
pub(crate) use join::{Batch, Replaces};
use known::KnownIds;
pub(crate) use point::PointStore;
pub(crate) use sequence::Sequence;

/// Whose handler, and what it is called.
type Key = (Option<u64>, Arc<str>);

/// Handlers of each point, the stages of every flow in their order.
type ByPoint<'h> = BTreeMap<(Option<StageKind>, usize), HashMap<u64, &'h Arc<Entry>>>;

/// All handlers, by point.
#[derive(Debug, Default)]
pub(crate) struct Store {
    points: BTreeMap<usize, PointStore>,
    declared: Declared,
    /// The plugins that have handlers here.
    plugins: HashMap<PluginId, Arc<PluginRecord>>,
    names: HashMap<PluginId, Weak<PluginName>>,
    /// How many names there were when unused ones were last taken out.
    names_kept: usize,
    quotas: HashMap<PluginId, Quota>,
    known: KnownIds,
    /// The built-in handlers that belong to no block.
    built_in: Arc<CallTracker>,
    /// What an operator has set.
    pub(crate) settings: SettingStore,
    free_bits: Arc<Mutex<Vec<u32>>>,
    next_bit: u32,
    next_number: u64,
}

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The points whose lists are new, with their index.
    pub(crate) points: Vec<usize>,
    /// The handlers that are new.
    pub(crate) added: Vec<(usize, Arc<Entry>)>,
    /// The removed handlers, to be dropped outside the lock. Of one list,
    /// and of the stages of one flow, in the order in which a fire walks them.
    pub(crate) removed: Vec<Arc<Entry>>,
    /// The plugins that left with their last handlers.
    pub(crate) left: Vec<Arc<PluginRecord>>,
}

impl Store {
    /// The points in an order that does not depend on the run: by wire name,
    /// the stages of a flow in theirs.
    pub(crate) fn sorted_points(&self) -> Vec<(usize, &PointStore)> {
        let mut points: Vec<_> = self.points.iter().map(|(&index, point)| (index, point)).collect();
        points.sort_unstable_by_key(|(index, PointStore { descriptor, .. })| {
            (descriptor.flow().unwrap_or(descriptor.name()), descriptor.stage(), *index)
        });
        points
    }

    pub(crate) fn points(&self) -> &BTreeMap<usize, PointStore> {
        &self.points
    }

    /// The handlers of a point as fires are to see them, where it has any.
    pub(crate) fn list(&mut self, index: usize) -> Option<Arc<HandlerList>> {
        // A point without handlers is like one that never had any.
        let point = self.points.get(&index).filter(|point| !point.order.is_empty())?;
        if self.settings.is_empty() {
            return Some(Arc::clone(&point.list));
        }
        let name = point.descriptor.name();
        Some(match self.settings.rules(name, point.order.iter()) {
            Some(rules) => Arc::new(point.list.ruled(rules)),
            None => Arc::clone(&point.list),
        })
    }

    /// The handlers that a target names, point by point as they are listed.
    pub(crate) fn matching(&self, target: &Pattern) -> Vec<(usize, Arc<Entry>)> {
        let points = self.sorted_points().into_iter();
        let points = points.filter(|(_, point)| target.may_name(point.descriptor.name()));
        let all = points.flat_map(|(index, point)| point.order.iter().map(move |it| (index, it)));
        let matching = all.filter(|(_, entry)| target.matches(entry));
        matching.map(|(index, entry)| (index, Arc::clone(entry))).collect()
    }

    /// All handlers, to be looked at without the lock.
    pub(crate) fn entries(&self) -> Vec<Arc<Entry>> {
        let entries = self.points.values().flat_map(|point| point.order.iter());
        entries.cloned().collect()
    }

    /// The points with handlers that any of the settings names.
    pub(crate) fn points_matching(&self, settings: &[&Setting]) -> Vec<usize> {
        let is_named = |point: &PointStore| {
            let mut entries = point.order.iter();
            entries.any(|entry| settings.iter().any(|it| it.pattern().matches(entry)))
        };
        let named = self.points.iter().filter(|(_, point)| is_named(point));
        named.map(|(index, _)| *index).collect()
    }

    pub(crate) fn plugin(&self, id: &str) -> Option<&Arc<PluginRecord>> {
        self.plugins.get(id)
    }

    /// The plugins that are installed or have handlers here, in no order.
    pub(crate) fn plugins(&self) -> impl Iterator<Item = &Arc<PluginRecord>> {
        self.plugins.values()
    }

    /// The wire names of the points where a generation has handlers, sorted.
    pub(crate) fn points_of(&self, generation: u64) -> Vec<&'static str> {
        let points = self.sorted_points().into_iter();
        let theirs = points.filter(|(_, point)| point.has_generation(generation));
        theirs.map(|(_, point)| point.descriptor.name()).collect()
    }

    /// What a name given by the host may mean, the likeliest first: `plugin/handler`,
    /// `plugin/*`, or a bare name for a built-in one. That of a place in the source
    /// may have a plugin in front of it.
    fn meanings(name: &str) -> impl Iterator<Item = (Option<&str>, Option<&str>)> {
        let wanted = Wanted::parse(name);
        let first = match wanted {
            Wanted::Name(name) => (None, Some(name)),
            Wanted::Of(plugin, name) => (Some(plugin), Some(name)),
            Wanted::All(plugin) => (Some(plugin), None),
        };
        let place = name.split_once('/').filter(|_| matches!(wanted, Wanted::Name(_)));
        let second = place.map(|(plugin, place)| (Some(plugin), Some(place)));
        iter::once(first).chain(second)
    }

    /// The handlers of that name at one point or at all.
    pub(crate) fn named(&self, name: &str, at: Option<usize>) -> Vec<(usize, Arc<Entry>)> {
        let found = Self::meanings(name).map(|(plugin, name)| {
            let owner = match plugin {
                None => None,
                Some(plugin) => match self.plugins.get(plugin) {
                    Some(record) => Some(record.generation()),
                    None => return Vec::new(),
                },
            };
            self.registered(owner, name, at)
        });
        found.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// What is left of handlers of that name that were removed before.
    pub(crate) fn left_of(&self, name: &str, at: Option<usize>) -> Vec<Leaving> {
        let left = Self::meanings(name).filter_map(|(plugin, name)| {
            let (owner, tracker) = match plugin {
                None => (Owner::BuiltIn, Arc::clone(&self.built_in)),
                Some(plugin) => {
                    let known = self.known_name(plugin)?;
                    (Owner::Plugin(known.id().clone()), Arc::clone(known.tracker()))
                }
            };
            let is_it = |removed: &RemovedHandler| {
                name.is_none_or(|name| *removed.name == *name)
                    && at.is_none_or(|at| removed.point.index() == at)
            };
            let removed = tracker.removed_so_far();
            let ids = removed.iter().filter(|(_, it)| is_it(it)).map(|(id, _)| *id);
            let ids: Vec<_> = ids.collect();
            (!ids.is_empty()).then(|| Leaving::of(owner, &tracker, ids))
        });
        left.collect()
    }

    fn registered(
        &self,
        owner: Option<u64>,
        name: Option<&str>,
        at: Option<usize>,
    ) -> Vec<(usize, Arc<Entry>)> {
        let points = self.points.iter().filter(|(index, _)| at.is_none_or(|at| at == **index));
        points
            .flat_map(|(&index, point)| {
                match name {
                    Some(name) => point.find(owner, name).into_iter().cloned().collect(),
                    None => point.all_of(owner),
                }
                .into_iter()
                .map(move |entry: Arc<Entry>| (index, entry))
            })
            .collect()
    }

    /// The bit of a plugin id, assigned on first use.
    pub(crate) fn name(&mut self, id: &PluginId) -> Arc<PluginName> {
        if let Some(name) = self.names.get(id).and_then(Weak::upgrade) {
            return name;
        }
        let free = self.free_bits.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let bit = free.unwrap_or_else(|| {
            self.next_bit += 1;
            self.next_bit
        });
        let name = Arc::new(PluginName::new(id.clone(), bit, Arc::clone(&self.free_bits)));
        // Now and then: each time, it would cost as many steps as there are names.
        if self.names.len() >= 2 * self.names_kept {
            self.names.retain(|_, known| known.strong_count() > 0);
            self.names_kept = self.names.len();
        }
        self.names.insert(id.clone(), Arc::downgrade(&name));
        name
    }

    /// Notes that a point is used here; another of its wire name is an error.
    pub(crate) fn declare(&mut self, point: &'static PointDescriptor) -> Result<(), NameClash> {
        check_name(&self.declared, point)?;
        self.declared.insert(point.name(), point);
        Ok(())
    }

    /// The points that are used here, by wire name.
    pub(crate) fn used_points(&self) -> impl Iterator<Item = &'static PointDescriptor> + use<> {
        let mut used: Vec<_> = self.declared.values().copied().collect();
        used.sort_unstable_by_key(|point| point.name());
        used.into_iter()
    }

    pub(crate) fn set_quota(&mut self, plugin: PluginId, quota: Quota) {
        if quota.is_none() {
            self.quotas.remove(&plugin);
        } else {
            self.quotas.insert(plugin, quota);
        }
    }

    /// Notes that a plugin of that id was asked for, which may never have been
    /// registered.
    pub(crate) fn asked_for(&mut self, id: &str) {
        if !self.plugins.contains_key(id) {
            self.known.asked_for(id);
        }
    }

    /// The ids that were asked for and that no plugin ever had, each with the
    /// nearest id that is registered.
    pub(crate) fn unknown_ids(&self) -> impl Iterator<Item = (&str, Option<&PluginId>)> {
        self.known.unknown().map(|id| (id, nearest(id, self.plugins.keys(), str::len)))
    }

    /// No generation so far has a greater number.
    pub(crate) fn newest_generation(&self) -> u64 {
        self.next_number
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn entries_of(&self, generation: Option<u64>) -> Vec<(usize, Arc<Entry>)> {
        let Some(generation) = generation else { return Vec::new() };
        let is_theirs = |entry: &&Arc<Entry>| {
            entry.plugin.as_ref().is_some_and(|p| p.generation() == generation)
        };
        self.by_stage()
            .into_iter()
            .filter(|index| self.points[index].has_generation(generation))
            .flat_map(|index| {
                let theirs = self.points[&index].order.iter().filter(is_theirs);
                theirs.map(move |entry| (index, Arc::clone(entry)))
            })
            .collect()
    }

    /// The points, the stages of every flow in their order.
    fn by_stage(&self) -> Vec<usize> {
        let mut points: Vec<_> = self.points.keys().copied().collect();
        points.sort_unstable_by_key(|index| (self.points[index].descriptor.stage(), *index));
        points
    }

    /// Removes those of the handlers that are still here. The caller keeps
    /// them until the lock is released.
    pub(crate) fn remove(&mut self, handlers: &[(usize, Arc<Entry>)]) -> Change {
        let mut change = Change::default();
        for ((_, index), entries) in self.still_here(handlers) {
            let Some(point) = self.points.get_mut(&index) else { continue };
            let first = change.removed.len();
            if let [one] = entries.values().collect::<Vec<_>>()[..] {
                point.remove_one(one);
                change.removed.push(Arc::clone(one));
            } else {
                change.removed.extend(point.remove(|entry| entries.contains_key(&entry.id)));
            }
            change.points.push(index);
            for entry in &change.removed[first..] {
                change.left.extend(self.forget_idle_plugin(entry));
            }
        }
        change
    }

    /// Those of the handlers that are still here, by stage and point and by their ids.
    fn still_here<'h>(&self, handlers: &'h [(usize, Arc<Entry>)]) -> ByPoint<'h> {
        let mut here = ByPoint::new();
        for (index, entry) in handlers {
            if let Some(point) = self.points.get(index).filter(|point| point.has(entry)) {
                let stage = (point.descriptor.stage(), *index);
                here.entry(stage).or_default().insert(entry.id, entry);
            }
        }
        here
    }

    /// Removes all handlers of a plugin, with its record: of that generation, or
    /// of the current one.
    pub(crate) fn remove_plugin(&mut self, id: &str, generation: Option<u64>) -> Option<Change> {
        let record = self
            .plugins
            .get(id)
            .filter(|it| generation.is_none_or(|generation| it.generation() == generation))?;
        let record = Arc::clone(record);
        let mut change = Change::default();
        for index in self.by_stage() {
            let Some(point) = self.points.get_mut(&index) else { continue };
            if point.has_generation(record.generation()) {
                change.removed.extend(point.remove(|entry| {
                    entry.plugin.as_ref().is_some_and(|plugin| Arc::ptr_eq(plugin, &record))
                }));
                change.points.push(index);
            }
        }
        self.plugins.remove(record.id());
        self.forget_places(record.generation());
        change.left.push(record);
        Some(change)
    }

    /// Forgets the numbering of a generation that has no handlers left.
    fn forget_places(&mut self, generation: u64) {
        for point in self.points.values_mut() {
            point.anonymous.remove(&Some(generation));
        }
    }

    /// The name of a plugin that has, or had, handlers or a scope here.
    pub(crate) fn known_name(&self, id: &str) -> Option<Arc<PluginName>> {
        self.names.get(id).and_then(Weak::upgrade)
    }

    /// A plugin without handlers is forgotten, so that ids do not pile up. One that is
    /// to be stopped stays where its last handler left by itself: no removal would wait for
    /// its stop.
    fn forget_idle_plugin(&mut self, removed: &Entry) -> Option<Arc<PluginRecord>> {
        let plugin = removed.plugin.as_ref().filter(|plugin| plugin.handlers() == 0)?;
        if removed.was_called_once() && plugin.is_to_be_stopped() {
            return None;
        }
        self.forget_places(plugin.generation());
        self.plugins.remove(plugin.id())
    }
}

/// The points that are used, by wire name.
type Declared = HashMap<&'static str, &'static PointDescriptor>;

fn check_name(declared: &Declared, point: &PointDescriptor) -> Result<(), NameClash> {
    match declared.get(point.name()) {
        Some(known) if !std::ptr::eq(*known, point) => {
            Err(NameClash { name: point.name(), first: known.location(), second: point.location() })
        }
        _ => Ok(()),
    }
}
