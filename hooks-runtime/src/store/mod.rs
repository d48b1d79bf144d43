//! The registered handlers, as the writers see them.
//!
//! One lock, held only for bookkeeping: no code of the user runs under it,
//! and what a change removes is handed out to be dropped after it.

mod join;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, Weak};

use crate::entry::Entry;
use crate::error::NameClash;
use crate::limits::Limits;
use crate::list::{AnyList, ListKind};
use crate::order;
use crate::plugin_id::PluginId;
use crate::plugins::{PluginName, PluginRecord};
use crate::point::PointDescriptor;
use crate::sync::Mutex;

pub(crate) use join::Joining;
use join::Plan;

/// Whose handler, and what it is called.
type Key = (Option<u64>, Arc<str>);

/// All handlers, by point.
#[derive(Debug, Default)]
pub(crate) struct Store {
    points: BTreeMap<usize, PointStore>,
    declared: Declared,
    /// The plugins that have handlers here.
    plugins: HashMap<PluginId, Arc<PluginRecord>>,
    names: HashMap<PluginId, Weak<PluginName>>,
    limits: HashMap<PluginId, Limits>,
    free_bits: Arc<Mutex<Vec<u32>>>,
    next_bit: u32,
    next_number: u64,
}

/// The handlers of one point.
#[derive(Debug)]
pub(crate) struct PointStore {
    pub(crate) descriptor: &'static PointDescriptor,
    pub(crate) order: Vec<Arc<Entry>>,
    pub(crate) list: AnyList,
    pub(crate) kind: ListKind,
    keys: HashMap<Key, Arc<Entry>>,
    /// How often a place in the source has given its name to a handler.
    anonymous: HashMap<Key, u64>,
    /// The names in the handlers' constraints, with how often each occurs.
    named: HashMap<Arc<str>, usize>,
}

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The points whose lists are new, with their index.
    pub(crate) points: Vec<usize>,
    /// The handlers that are new.
    pub(crate) added: Vec<(usize, Arc<Entry>)>,
    /// The handlers that are gone, to be dropped outside the lock. Of one list,
    /// and of the stages of one flow, in the order in which a fire walks them.
    pub(crate) removed: Vec<Arc<Entry>>,
}

impl Store {
    /// The points in an order that does not depend on the run: by wire name,
    /// the stages of a flow in theirs.
    pub(crate) fn sorted_points(&self) -> Vec<(usize, &PointStore)> {
        let mut points: Vec<_> = self.points.iter().map(|(&index, point)| (index, point)).collect();
        points.sort_by_key(|(_, PointStore { descriptor, .. })| {
            (descriptor.flow().unwrap_or(descriptor.name()), descriptor.stage())
        });
        points
    }

    pub(crate) fn points(&self) -> &BTreeMap<usize, PointStore> {
        &self.points
    }

    pub(crate) fn plugin(&self, id: &str) -> Option<&Arc<PluginRecord>> {
        self.plugins.get(id)
    }

    /// The bit of a plugin id, drawn on first use.
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
        self.names.retain(|_, known| known.strong_count() > 0);
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

    pub(crate) fn set_limits(&mut self, plugin: PluginId, limits: Limits) {
        self.limits.insert(plugin, limits);
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn entries_of(&self, stay: Option<u64>) -> Vec<(usize, Arc<Entry>)> {
        let Some(stay) = stay else { return Vec::new() };
        let is_theirs =
            |entry: &&Arc<Entry>| entry.plugin.as_ref().is_some_and(|p| p.stay() == stay);
        self.by_stage()
            .into_iter()
            .flat_map(|index| {
                let theirs = self.points[&index].order.iter().filter(is_theirs);
                theirs.map(move |entry| (index, Arc::clone(entry)))
            })
            .collect()
    }

    /// The points, the stages of every flow in their order.
    fn by_stage(&self) -> Vec<usize> {
        let mut points: Vec<_> = self.points.keys().copied().collect();
        points.sort_by_key(|index| self.points[index].descriptor.stage());
        points
    }

    /// Removes those of the handlers that are still here.
    pub(crate) fn remove(&mut self, handlers: impl Iterator<Item = (usize, u64)>) -> Change {
        let mut leaving: Vec<_> = handlers
            .filter_map(|(index, id)| {
                let point = self.points.get(&index)?;
                let at = point.order.iter().position(|entry| entry.id == id)?;
                Some((point.descriptor.stage(), index, at, id))
            })
            .collect();
        leaving.sort_unstable();
        let mut change = Change::default();
        for (_, index, _, id) in leaving {
            self.remove_one(index, id, &mut change);
        }
        change
    }

    fn remove_one(&mut self, index: usize, id: u64, change: &mut Change) {
        let Some(point) = self.points.get_mut(&index) else { return };
        let Some(at) = point.order.iter().position(|entry| entry.id == id) else { return };
        let entry = point.order.remove(at);
        // Asked before it is forgotten: the constraints may be its own.
        let constrained = point.constrained();
        point.forget(&entry);
        if constrained {
            point.resort();
        } else {
            point.list = (point.kind.without)(&point.list, id);
        }
        self.forget_idle_plugin(&entry);
        change.points.push(index);
        change.removed.push(entry);
    }

    /// Removes all handlers of the plugin that `is_it` picks, with its record.
    pub(crate) fn remove_plugin(
        &mut self,
        is_it: impl Fn(&PluginRecord) -> bool,
    ) -> Option<Change> {
        let record = Arc::clone(self.plugins.values().find(|plugin| is_it(plugin))?);
        let mut change = Change::default();
        for index in self.by_stage() {
            let Some(point) = self.points.get_mut(&index) else { continue };
            let (theirs, others): (Vec<_>, Vec<_>) = std::mem::take(&mut point.order)
                .into_iter()
                .partition(|entry| entry.plugin.as_ref().is_some_and(|p| Arc::ptr_eq(p, &record)));
            point.order = others;
            if theirs.is_empty() {
                continue;
            }
            for entry in &theirs {
                point.forget(entry);
            }
            point.resort();
            change.points.push(index);
            change.removed.extend(theirs);
        }
        self.plugins.remove(record.id());
        self.forget_places(record.stay());
        Some(change)
    }

    /// Nobody of that stay is left to be numbered.
    fn forget_places(&mut self, stay: u64) {
        for point in self.points.values_mut() {
            point.anonymous.retain(|(owner, _), _| *owner != Some(stay));
        }
    }

    /// The name of a plugin that has, or had, handlers or a scope here.
    pub(crate) fn known_name(&self, id: &str) -> Option<Arc<PluginName>> {
        self.names.get(id).and_then(Weak::upgrade)
    }

    /// A plugin without handlers is forgotten, so that ids do not pile up.
    fn forget_idle_plugin(&mut self, removed: &Entry) {
        if let Some(plugin) = &removed.plugin
            && plugin.handlers() == 0
        {
            self.plugins.remove(plugin.id());
            self.forget_places(plugin.stay());
        }
    }
}

impl PointStore {
    fn new(descriptor: &'static PointDescriptor, kind: ListKind) -> Self {
        Self {
            descriptor,
            order: Vec::new(),
            list: (kind.of)(&[]),
            kind,
            keys: HashMap::new(),
            anonymous: HashMap::new(),
            named: HashMap::new(),
        }
    }

    /// Whether any handler has a constraint.
    fn constrained(&self) -> bool {
        !self.named.is_empty()
    }

    /// Whether a handler has a constraint, or somebody's constraint names it.
    fn is_related(&self, entry: &Entry) -> bool {
        order::is_constrained(entry)
            || self.named.contains_key(&entry.name)
            || entry.plugin.as_ref().is_some_and(|p| self.named.contains_key(p.id().as_str()))
    }

    fn know(&mut self, entry: &Arc<Entry>) {
        self.keys.insert(key_of(entry), Arc::clone(entry));
        if let Some(plugin) = &entry.plugin {
            plugin.gained();
        }
        for name in entry.before.iter().chain(&entry.after) {
            *self.named.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    fn forget(&mut self, entry: &Arc<Entry>) {
        self.keys.remove(&key_of(entry));
        if let Some(plugin) = &entry.plugin {
            plugin.lost();
        }
        if self.keys.is_empty() {
            // Nobody is left to clash with: numbering starts afresh.
            self.anonymous.clear();
        }
        for name in entry.before.iter().chain(&entry.after) {
            if let Some(count) = self.named.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(name);
                }
            }
        }
    }

    /// Sorts anew after somebody left: whoever waited for them no longer does.
    fn resort(&mut self) {
        let order = std::mem::take(&mut self.order);
        self.order = order::sorted(order).expect("taking a handler away cannot close a circle");
        self.list = (self.kind.instead)(&self.list, &self.order);
    }

    fn follow(&mut self, plan: Plan) {
        match plan {
            Plan::Insert(entry) => {
                let key = order::key(&entry);
                // Nobody is related to it, so it comes before the first that
                // would have let it go first.
                let at = if self.constrained() {
                    let later = self.order.iter().position(|other| order::key(other) > key);
                    later.unwrap_or(self.order.len())
                } else {
                    self.order.partition_point(|other| order::key(other) <= key)
                };
                self.list = (self.kind.with)(&self.list, at, &entry);
                self.order.insert(at, entry);
            }
            Plan::Resort(order) => {
                self.list = (self.kind.instead)(&self.list, &order);
                self.order = order;
            }
        }
    }

    /// How often a handler of this point was called.
    pub(crate) fn calls(&self, entry: &Entry) -> u64 {
        let calls = entry.counters.calls().wrapping_add((self.kind.calls)(&self.list, entry.id));
        // A fire under way may have taken back a call that it counts only when
        // it ends.
        calls.cast_signed().max(0).cast_unsigned()
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

fn key_of(entry: &Entry) -> Key {
    (entry.plugin.as_ref().map(|plugin| plugin.stay()), Arc::clone(&entry.name))
}
