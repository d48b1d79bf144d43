//! The registered handlers, as the writers see them.
//!
//! One lock, held only for bookkeeping: no code of the user runs under it,
//! and what a change removes is handed out to be dropped after it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::entry::{Counters, Entry, Owner};
use crate::error::{NameClash, RegisterError};
use crate::limits::Limits;
use crate::list::{AnyList, ListKind};
use crate::order;
use crate::plugin_id::{PluginId, check_handler_name};
use crate::plugins::{PluginName, PluginRecord};
use crate::point::PointDescriptor;
use crate::presence::Presence;
use crate::registration::{Named, Registration};
use crate::registry::Settings;

/// Whose handler, and what it is called.
type Key = (Option<u64>, Arc<str>);

/// All handlers, by point.
#[derive(Debug, Default)]
pub(crate) struct Store {
    points: BTreeMap<usize, PointStore>,
    declared: HashMap<&'static str, &'static PointDescriptor>,
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
    constrained: bool,
}

/// What a change did.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// The points whose lists are new, with their index.
    pub(crate) points: Vec<usize>,
    /// The handlers that are new.
    pub(crate) added: Vec<(usize, Arc<Entry>)>,
    /// The handlers that are gone, to be dropped outside the lock.
    pub(crate) removed: Vec<Arc<Entry>>,
}

/// A registration that passed every check of its own.
struct Checked {
    index: usize,
    descriptor: &'static PointDescriptor,
    kind: ListKind,
    entry: Arc<Entry>,
    replaces: Option<Arc<Entry>>,
    base: Option<Key>,
}

/// How a point's order changes.
enum Plan {
    Insert(Vec<Arc<Entry>>),
    Resort(Vec<Arc<Entry>>),
}

impl Store {
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
        let known = *self.declared.entry(point.name()).or_insert(point);
        if std::ptr::eq(known, point) {
            return Ok(());
        }
        Err(NameClash { name: point.name(), first: known.location(), second: point.location() })
    }

    pub(crate) fn set_limits(&mut self, plugin: PluginId, limits: Limits) {
        self.limits.insert(plugin, limits);
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Registers a group, whole or not at all. With `instead_of`, the handlers
    /// of that stay are removed in the same change.
    pub(crate) fn register(
        &mut self,
        group: Vec<Registration>,
        settings: &Settings,
        instead_of: Option<u64>,
    ) -> Result<Change, RegisterError> {
        let mut plugins = HashMap::new();
        let mut taken = HashSet::new();
        let mut checked = Vec::with_capacity(group.len());
        for registration in group {
            let check = self.check(registration, settings, &mut plugins, &mut taken, instead_of)?;
            checked.push(check);
        }
        let leaving = self.entries_of(instead_of);
        let plans = self.plan(&checked, &leaving)?;
        for (id, record) in plugins {
            self.plugins.insert(id, record);
        }
        Ok(self.apply(checked, leaving, plans))
    }

    /// The checks that concern one registration alone, and its name.
    fn check(
        &mut self,
        registration: Registration,
        settings: &Settings,
        plugins: &mut HashMap<PluginId, Arc<PluginRecord>>,
        taken: &mut HashSet<(usize, Key)>,
        instead_of: Option<u64>,
    ) -> Result<Checked, RegisterError> {
        let Registration { point, kind, options, handler } = registration;
        let descriptor = point;
        self.declare(descriptor)?;
        let index = descriptor.index();
        let plugin = match &options.plugin {
            None => None,
            Some(id) => {
                let id = PluginId::new(id)?;
                Some(self.record(&id, plugins, instead_of))
            }
        };
        let stay = plugin.as_ref().map(|plugin| plugin.stay());
        let (name, base) = match &options.name {
            Named::Given(name) => {
                check_handler_name(name)
                    .map_err(|(name, problem)| RegisterError::BadName { name, problem })?;
                (Arc::clone(name), None)
            }
            Named::ByPlace => {
                let base: Key = (stay, options.location.to_string().into());
                (self.name_by_place(index, &base, taken), Some(base))
            }
        };
        let owner = || plugin.as_ref().map_or(Owner::BuiltIn, |p| Owner::Plugin(p.id().clone()));
        let key = (stay, Arc::clone(&name));
        let replaces = self.points.get(&index).and_then(|point| point.keys.get(&key)).cloned();
        if !taken.insert((index, key)) || (replaces.is_some() && !options.replace) {
            return Err(RegisterError::Duplicate {
                point: descriptor.name(),
                handler: name.to_string(),
                owner: owner(),
            });
        }
        let policy = match options.policy {
            Some(_) if descriptor.is_fixed() => {
                return Err(RegisterError::FixedPolicy {
                    point: descriptor.name(),
                    handler: name.to_string(),
                });
            }
            None => descriptor.policy(),
            Some(asked) if asked < descriptor.policy() => {
                return Err(RegisterError::Loosens {
                    point: descriptor.name(),
                    handler: name.to_string(),
                    asked,
                    declared: descriptor.policy(),
                });
            }
            Some(asked) => asked,
        };
        let timeout = options.timeout.or(descriptor.time_limit()).or(settings.timeout);
        if timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(RegisterError::ZeroTimeout {
                point: descriptor.name(),
                handler: name.to_string(),
            });
        }
        if let Some(plugin) = &plugin
            && let Some(limits) = self.limits.get(plugin.id())
        {
            // A handler that takes another's place adds none.
            let others = self.entries_of(Some(plugin.stay())).len()
                + taken.iter().filter(|(_, (stay, _))| *stay == Some(plugin.stay())).count()
                - 1
                - usize::from(replaces.is_some());
            limits.check(descriptor, options.priority, others).map_err(|refusal| {
                RegisterError::Refused {
                    point: descriptor.name(),
                    handler: name.to_string(),
                    plugin: plugin.id().to_string(),
                    refusal,
                }
            })?;
        }
        let id = self.number();
        let entry = Arc::new(Entry {
            id,
            seq: replaces.as_ref().map_or(id, |old| old.seq),
            name,
            plugin,
            priority: options.priority,
            phase: options.phase,
            policy,
            timeout,
            before: options.before,
            after: options.after,
            target: options.target,
            location: options.location,
            presence: Presence::default(),
            counters: Counters::default(),
            handler,
        });
        Ok(Checked { index, descriptor, kind, entry, replaces, base })
    }

    /// The record of a plugin: the current stay, or a new one that begins with
    /// this group.
    fn record(
        &mut self,
        id: &PluginId,
        group: &mut HashMap<PluginId, Arc<PluginRecord>>,
        instead_of: Option<u64>,
    ) -> Arc<PluginRecord> {
        if let Some(record) = group.get(id) {
            return Arc::clone(record);
        }
        if let Some(record) = self.plugins.get(id)
            && Some(record.stay()) != instead_of
        {
            return Arc::clone(record);
        }
        let stay = self.number();
        let record = Arc::new(PluginRecord::new(self.name(id), stay));
        group.insert(id.clone(), Arc::clone(&record));
        record
    }

    /// The place in the source, with a number from the second time on.
    fn name_by_place(&self, index: usize, base: &Key, taken: &HashSet<(usize, Key)>) -> Arc<str> {
        let point = self.points.get(&index);
        let mut times = point.and_then(|point| point.anonymous.get(base)).copied().unwrap_or(0);
        loop {
            times += 1;
            let name: Arc<str> =
                if times == 1 { Arc::clone(&base.1) } else { format!("{}#{times}", base.1).into() };
            let key = (base.0, Arc::clone(&name));
            let free = !point.is_some_and(|point| point.keys.contains_key(&key))
                && !taken.contains(&(index, key));
            if free {
                return name;
            }
        }
    }

    fn entries_of(&self, stay: Option<u64>) -> Vec<(usize, Arc<Entry>)> {
        let Some(stay) = stay else { return Vec::new() };
        let is_theirs =
            |entry: &&Arc<Entry>| entry.plugin.as_ref().is_some_and(|p| p.stay() == stay);
        self.points
            .iter()
            .flat_map(|(&index, point)| {
                point.order.iter().filter(is_theirs).map(move |entry| (index, Arc::clone(entry)))
            })
            .collect()
    }

    /// Works out every new order before anything is changed: a circle of
    /// constraints must leave the store as it was.
    fn plan(
        &self,
        checked: &[Checked],
        leaving: &[(usize, Arc<Entry>)],
    ) -> Result<BTreeMap<usize, Plan>, RegisterError> {
        let mut joining: BTreeMap<usize, Vec<&Checked>> = BTreeMap::new();
        for check in checked {
            joining.entry(check.index).or_default().push(check);
        }
        for (index, _) in leaving {
            joining.entry(*index).or_default();
        }
        let mut plans = BTreeMap::new();
        for (index, new) in joining {
            let old = self.points.get(&index);
            let leaves = |entry: &Arc<Entry>| {
                leaving.iter().any(|(_, leaving)| leaving.id == entry.id)
                    || new.iter().any(|c| c.replaces.as_ref().is_some_and(|r| r.id == entry.id))
            };
            let simple = new.len() == 1
                && leaving.iter().all(|(at, _)| *at != index)
                && new.iter().all(|c| c.replaces.is_none() && !order::is_constrained(&c.entry))
                && !old.is_some_and(|old| old.constrained);
            let entries = new.iter().map(|check| Arc::clone(&check.entry));
            let plan = if simple {
                Plan::Insert(entries.collect())
            } else {
                let staying = old.into_iter().flat_map(|old| &old.order).filter(|e| !leaves(e));
                let point = new.first().map(|c| c.descriptor).or(old.map(|old| old.descriptor));
                let all: Vec<_> = staying.cloned().chain(entries).collect();
                Plan::Resort(order::sorted(all).map_err(|path| RegisterError::Cycle {
                    point: point.map_or("", PointDescriptor::name),
                    path,
                })?)
            };
            plans.insert(index, plan);
        }
        Ok(plans)
    }

    fn apply(
        &mut self,
        checked: Vec<Checked>,
        leaving: Vec<(usize, Arc<Entry>)>,
        plans: BTreeMap<usize, Plan>,
    ) -> Change {
        let mut change = Change::default();
        for (index, entry) in leaving {
            if let Some(point) = self.points.get_mut(&index) {
                point.forget(&entry);
            }
            change.removed.push(entry);
        }
        for check in checked {
            let point = self
                .points
                .entry(check.index)
                .or_insert_with(|| PointStore::new(check.descriptor, check.kind));
            if let Some(old) = check.replaces {
                point.forget(&old);
                change.removed.push(old);
            }
            point.keys.insert(key_of(&check.entry), Arc::clone(&check.entry));
            if let Some(base) = check.base {
                *point.anonymous.entry(base).or_default() += 1;
            }
            change.added.push((check.index, check.entry));
        }
        for (index, plan) in plans {
            if let Some(point) = self.points.get_mut(&index) {
                point.follow(plan);
                change.points.push(index);
            }
        }
        change
    }

    /// Removes one handler; `None` when it is gone already.
    pub(crate) fn remove(&mut self, index: usize, id: u64) -> Option<Change> {
        let point = self.points.get_mut(&index)?;
        let at = point.order.iter().position(|entry| entry.id == id)?;
        let entry = point.order.remove(at);
        point.forget(&entry);
        point.list = (point.kind.without)(&point.list, id);
        point.constrained = point.order.iter().any(|entry| order::is_constrained(entry));
        self.forget_idle_plugin(&entry);
        Some(Change { points: vec![index], added: Vec::new(), removed: vec![entry] })
    }

    /// Removes all handlers of a plugin, with its record.
    pub(crate) fn remove_plugin(&mut self, stay: u64) -> Option<(Arc<PluginRecord>, Change)> {
        let record = Arc::clone(self.plugins.values().find(|plugin| plugin.stay() == stay)?);
        let mut change = Change::default();
        for (&index, point) in &mut self.points {
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
            point.list = (point.kind.of)(&point.order);
            point.constrained = point.order.iter().any(|entry| order::is_constrained(entry));
            change.points.push(index);
            change.removed.extend(theirs);
        }
        self.plugins.remove(record.id());
        Some((record, change))
    }

    /// A plugin without handlers is forgotten, so that ids do not pile up.
    fn forget_idle_plugin(&mut self, removed: &Entry) {
        if let Some(plugin) = &removed.plugin
            && self.entries_of(Some(plugin.stay())).is_empty()
        {
            self.plugins.remove(plugin.id());
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
            constrained: false,
        }
    }

    fn forget(&mut self, entry: &Arc<Entry>) {
        self.keys.remove(&key_of(entry));
        if self.keys.is_empty() {
            // Nobody is left to clash with: numbering starts afresh.
            self.anonymous.clear();
        }
    }

    fn follow(&mut self, plan: Plan) {
        match plan {
            Plan::Insert(entries) => {
                for entry in entries {
                    let key = order::key(&entry);
                    let at = self.order.partition_point(|other| order::key(other) <= key);
                    self.list = (self.kind.with)(&self.list, at, &entry);
                    self.order.insert(at, entry);
                }
            }
            Plan::Resort(order) => {
                self.constrained = order.iter().any(|entry| order::is_constrained(entry));
                self.list = (self.kind.of)(&order);
                self.order = order;
            }
        }
    }

    /// How often a handler of this point was called.
    pub(crate) fn calls(&self, entry: &Entry) -> u64 {
        entry.counters.calls().wrapping_add((self.kind.calls)(&self.list, entry.id))
    }
}

fn key_of(entry: &Entry) -> Key {
    (entry.plugin.as_ref().map(|plugin| plugin.stay()), Arc::clone(&entry.name))
}
