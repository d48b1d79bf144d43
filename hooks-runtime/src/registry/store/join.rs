//! Handlers joining the store: every check first, then every order, and only
//! then a change.

use std::any::TypeId;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::point::Plan;
use super::{Change, Declared, Key, PointStore, Store, check_name};
#[cfg(feature = "replay")]
use crate::engine::raw::ErasedHandler;
use crate::engine::raw::HandlerCell;
use crate::error::{Duplicate, RegisterError};
use crate::handler::options::{Named, Options};
use crate::handler::registration::Registration;
use crate::handler::target::Target;
use crate::plugin::any::About;
use crate::plugin::id::{PluginId, check_constraint, check_handler_name, check_target_name};
use crate::plugin::quota::Quota;
use crate::plugin::record::PluginRecord;
use crate::point::{FailurePolicy, PointDescriptor, SourceLocation};
use crate::registry::RegistryConfig;
use crate::registry::entry::{Entry, Owner};
use crate::registry::handler_counters::HandlerCounters;
#[cfg(feature = "replay")]
use crate::registry::order;

/// A batch of registrations that is being registered.
///
/// It is made and dropped by the caller, outside the lock: a refused handler is
/// the user's code, and its drop may use the registry.
pub(crate) struct Batch {
    /// The registrations that are not checked yet, the next one last.
    waiting: Vec<Registration>,
    validated: Vec<Validated>,
    /// The plugins whose generation starts with this batch.
    plugins: HashMap<PluginId, Arc<PluginRecord>>,
    /// Where the names of this batch were taken.
    taken: HashMap<(usize, Key), SourceLocation>,
    /// The points of this batch.
    declared: Declared,
    /// How many handlers this batch adds to each generation.
    joined: HashMap<u64, usize>,
    /// How often this batch was named for each place in the source.
    places: HashMap<(usize, Key), u64>,
    /// The generation whose handlers are removed in the same change.
    instead_of: Option<u64>,
    /// The handlers that are removed in the same change.
    leaving: Leaving,
}

/// The handlers that leave with a batch.
#[derive(Default)]
struct Leaving {
    /// In the order in which a fire walks them, each once.
    entries: Vec<(usize, Arc<Entry>)>,
    ids: HashSet<u64>,
    /// How many there are of each generation.
    of: HashMap<Option<u64>, usize>,
    /// How many of them leave, rather than being replaced.
    alone: usize,
}

/// A registration that passed every check of its own.
pub(super) struct Validated {
    pub(super) index: usize,
    pub(super) descriptor: &'static PointDescriptor,
    point_type: TypeId,
    pub(super) entry: Arc<Entry>,
    pub(super) replaces: Option<Arc<Entry>>,
    /// The place in the source that it is named for.
    base: Option<Key>,
}

/// A handler that joins a copy of its registry.
#[cfg(feature = "replay")]
pub(crate) struct Copied {
    pub(crate) of: Arc<Entry>,
    /// Itself, or what stands in for it.
    pub(crate) handler: ErasedHandler,
    pub(crate) once: bool,
}

/// What the checks of one registration work out.
struct Resolved {
    name: Arc<str>,
    base: Option<Key>,
    plugin: Option<Arc<PluginRecord>>,
    policy: FailurePolicy,
    timeout: Option<Duration>,
    allowed: Option<RangeInclusive<i32>>,
    replaces: Option<Arc<Entry>>,
}

impl Batch {
    pub(crate) fn new(mut registrations: Vec<Registration>) -> Self {
        registrations.reverse();
        Self {
            validated: Vec::with_capacity(registrations.len()),
            waiting: registrations,
            plugins: HashMap::new(),
            taken: HashMap::new(),
            declared: Declared::new(),
            joined: HashMap::new(),
            places: HashMap::new(),
            instead_of: None,
            leaving: Leaving::default(),
        }
    }

    /// A batch with which these leave, as far as they are still registered. The caller keeps
    /// them until the lock is released.
    pub(crate) fn removing(mut self, leaving: Vec<(usize, Arc<Entry>)>) -> Self {
        self.leaving.entries = leaving;
        self
    }

    /// What has left with it, also by being replaced.
    pub(crate) fn left(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.leaving.entries.iter().map(|(_, entry)| entry)
    }

    /// How many have left with it for nobody who takes their place.
    pub(crate) fn left_alone(&self) -> usize {
        self.leaving.alone
    }

    /// Which registration was refused; `None` if each passed the checks of its own.
    pub(crate) fn refused(&self) -> Option<usize> {
        (!self.waiting.is_empty()).then_some(self.validated.len())
    }
}

/// What an installed plugin may take the place of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaces {
    Nothing,
    /// The plugin of its id.
    SameId,
}

impl Store {
    /// Begins a generation of a plugin that is installed with this batch.
    pub(crate) fn admit(
        &mut self,
        id: &str,
        about: About,
        replaces: Replaces,
        batch: &mut Batch,
    ) -> Result<Arc<PluginRecord>, RegisterError> {
        let id = PluginId::new(id)?;
        if batch.plugins.contains_key(&id) {
            return Err(RegisterError::GivenTwice { plugin: id.to_string() });
        }
        if let Some(installed) = self.plugins.get(&id) {
            if replaces == Replaces::Nothing {
                let can_be_replaced = !about.has_start && !installed.about().has_stop;
                return Err(RegisterError::Installed { plugin: id.to_string(), can_be_replaced });
            }
            if installed.about().has_stop {
                return Err(RegisterError::HasStop { plugin: id.to_string() });
            }
            batch.instead_of = Some(installed.generation());
        }
        Ok(self.begin(&id, about, batch))
    }

    /// Registers a batch, whole or not at all.
    pub(crate) fn register(
        &mut self,
        batch: &mut Batch,
        config: &RegistryConfig,
    ) -> Result<Change, RegisterError> {
        self.find_leaving(batch);
        while let Some(registration) = batch.waiting.pop() {
            let (descriptor, index) = (registration.point, registration.point.index());
            match self.resolve(descriptor, index, &registration.options, config, batch) {
                Ok(resolved) => batch.validated.push(self.enter(index, registration, resolved)),
                Err(refused) => {
                    // Back to the others, which are dropped after the lock.
                    batch.waiting.push(registration);
                    return Err(refused);
                }
            }
        }
        let mut leaving = self.entries_of(batch.instead_of);
        let replaced = batch.validated.iter().filter_map(|it| Some(it.replaces.as_ref()?.id));
        let replaced: HashSet<_> = replaced.collect();
        let alone = batch.leaving.entries.iter().filter(|(_, it)| !replaced.contains(&it.id));
        let before = leaving.len();
        leaving.extend(alone.cloned());
        batch.leaving.alone = leaving.len() - before;
        let plans = self.plan(&batch.validated, &leaving)?;
        for id in batch.plugins.keys() {
            self.known.used(id.as_str());
        }
        self.plugins.extend(batch.plugins.drain());
        self.declared.extend(batch.declared.drain());
        let mut change = self.apply(std::mem::take(&mut batch.validated), leaving, plans);
        if let Some(generation) = batch.instead_of {
            self.forget_places(generation);
        }
        for (_, entry) in &batch.leaving.entries {
            change.left.extend(self.forget_idle_plugin(entry));
        }
        Ok(change)
    }

    /// What leaves with a batch is what is still registered.
    fn find_leaving(&self, batch: &mut Batch) {
        if batch.leaving.entries.is_empty() {
            return;
        }
        let entries = self.in_walk_order(&batch.leaving.entries);
        let mut of = HashMap::new();
        for (_, entry) in &entries {
            *of.entry(entry.generation()).or_default() += 1;
        }
        let ids = entries.iter().map(|(_, entry)| entry.id).collect();
        batch.leaving = Leaving { entries, ids, of, alone: 0 };
    }

    /// Those of the handlers that are still here, each once, in the order in which a fire walks
    /// them.
    fn in_walk_order(&self, handlers: &[(usize, Arc<Entry>)]) -> Vec<(usize, Arc<Entry>)> {
        let by_point = self.still_here(handlers).into_iter();
        let in_order = by_point.flat_map(|((_, index), entries)| {
            // One alone need not be looked for among many.
            let all = match entries.values().collect::<Vec<_>>()[..] {
                [one] => std::slice::from_ref(*one),
                _ => self.points.get(&index).map_or(&[][..], |point| &point.order),
            };
            let theirs = all.iter().filter(move |entry| entries.contains_key(&entry.id));
            theirs.map(move |entry| (index, Arc::clone(entry)))
        });
        in_order.collect()
    }

    /// Registers copies of handlers of another registry, which were checked there, in the
    /// order in which they were registered. Constraints that are dropped there are dropped
    /// here too.
    #[cfg(feature = "replay")]
    pub(crate) fn register_copies(&mut self, copies: Vec<Copied>) -> Change {
        let mut batch = Batch::new(Vec::new());
        for Copied { of, handler, once } in copies {
            let plugin = of.plugin.as_ref().map(|plugin| self.record(plugin.id(), &mut batch));
            let generation = plugin.as_ref().map(|plugin| plugin.generation());
            let tracker = plugin.as_ref().map_or(&self.built_in, |plugin| plugin.tracker());
            let (tracker, id, point_type) = (Arc::clone(tracker), self.number(), handler.point());
            tracker.made(id, generation);
            let entry = Arc::new(Entry {
                id,
                seq: id,
                point: of.point,
                name: Arc::clone(&of.name),
                plugin,
                tracker,
                priority: of.priority,
                turn: of.turn.clone(),
                phase: of.phase,
                policy: of.policy,
                timeout: of.timeout,
                before: of.before.clone(),
                after: of.after.clone(),
                part_of: of.part_of.clone(),
                allowed: of.allowed.clone(),
                target: of.target.clone(),
                once: once.then(Default::default),
                pure: of.pure,
                location: of.location,
                counters: HandlerCounters::default(),
                handler: HandlerCell::new(handler),
            });
            let (index, descriptor) = (of.point.index(), of.point);
            batch.declared.insert(descriptor.name(), descriptor);
            let one =
                Validated { index, descriptor, point_type, entry, replaces: None, base: None };
            batch.validated.push(one);
        }
        let mut points: BTreeMap<usize, Vec<Arc<Entry>>> = BTreeMap::new();
        for one in &batch.validated {
            points.entry(one.index).or_default().push(Arc::clone(&one.entry));
        }
        let plans = points.into_iter().map(|(index, entries)| {
            let sorted = order::sorted(entries, |_| false);
            (index, Plan::Resort(sorted.expect("no circle of built-in ones was registered")))
        });
        let plans = plans.collect();
        self.plugins.extend(batch.plugins.drain());
        self.declared.extend(batch.declared.drain());
        self.apply(batch.validated, Vec::new(), plans)
    }

    /// The checks that concern one registration alone.
    fn resolve(
        &mut self,
        descriptor: &'static PointDescriptor,
        index: usize,
        options: &Options,
        config: &RegistryConfig,
        batch: &mut Batch,
    ) -> Result<Resolved, RegisterError> {
        check_name(&self.declared, descriptor)?;
        check_name(&batch.declared, descriptor)?;
        batch.declared.insert(descriptor.name(), descriptor);
        let plugin = match &options.plugin {
            None => None,
            Some(id) => Some(self.record(&PluginId::new(id)?, batch)),
        };
        let generation = plugin.as_ref().map(|plugin| plugin.generation());
        let (name, base) = match &options.name {
            Named::Given(name) => {
                checked(check_handler_name(name))?;
                (Arc::clone(name), None)
            }
            Named::ByPlace => {
                let base: Key = (generation, options.location.to_string().into());
                (self.name_by_place(index, &base, batch), Some(base))
            }
        };
        // No handler can ever have a name that is refused, so naming one is a
        // mistake.
        let mut wanted = options.before.iter().chain(&options.after);
        wanted.try_for_each(|name| checked(check_constraint(name)))?;
        if let Some(name) = options.target.as_ref().and_then(Target::name) {
            check_target_name(name)
                .map_err(|(name, problem)| RegisterError::BadTarget { name, problem })?;
        }
        let key = (generation, Arc::clone(&name));
        let replaces =
            self.points.get(&index).and_then(|point| point.find(generation, &name)).cloned();
        let taken = batch.taken.insert((index, key), options.location);
        let clash = replaces.as_ref().filter(|_| !options.replace).map(|old| old.location);
        if let Some(first) = taken.or(clash) {
            return Err(RegisterError::Duplicate(Box::new(Duplicate {
                point: descriptor.name(),
                handler: name.to_string(),
                owner: plugin.map_or(Owner::BuiltIn, |p| Owner::Plugin(p.id().clone())),
                first,
                second: options.location,
            })));
        }
        let policy = policy(descriptor, &name, options.policy)?;
        let timeout = options.timeout.or(descriptor.time_limit()).or(config.timeout);
        if timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(RegisterError::ZeroTimeout {
                point: descriptor.name(),
                handler: name.to_string(),
            });
        }
        let quota = plugin.as_ref().and_then(|plugin| self.quotas.get(plugin.id()));
        if let (Some(plugin), Some(quota)) = (&plugin, quota) {
            // A handler that takes another's place adds none, but where that leaves anyway.
            let leaving = batch.leaving.of.get(&generation).copied().unwrap_or(0);
            let joined = batch.joined.entry(plugin.generation()).or_default();
            let has = plugin.handlers() - leaving + *joined;
            let adds = replaces.as_ref().is_none_or(|old| batch.leaving.ids.contains(&old.id));
            let others = if adds { has } else { has - 1 };
            let priority = priority(options, replaces.as_deref());
            check_quota(quota, descriptor, &name, plugin, priority, others)?;
            *joined += usize::from(adds);
        }
        let allowed = quota.and_then(Quota::allowed_priorities);
        Ok(Resolved { name, base, plugin, policy, timeout, allowed, replaces })
    }

    fn enter(&mut self, index: usize, registration: Registration, resolved: Resolved) -> Validated {
        let Registration { point, options, handler } = registration;
        let point_type = handler.point();
        let id = self.number();
        let priority = priority(&options, resolved.replaces.as_deref());
        let kept = resolved.replaces.as_ref().filter(|old| !options.moves(old));
        let (before, after) = match kept {
            Some(old) => (old.before.clone(), old.after.clone()),
            None => (options.before, options.after),
        };
        let seq = kept.map_or(id, |old| old.seq);
        let turn = kept.map_or(options.turn, |old| old.turn.clone());
        let tracker = match &resolved.plugin {
            Some(plugin) => Arc::clone(plugin.tracker()),
            None => options.tracker.unwrap_or_else(|| Arc::clone(&self.built_in)),
        };
        tracker.made(id, resolved.plugin.as_ref().map(|plugin| plugin.generation()));
        let entry = Arc::new(Entry {
            id,
            point,
            tracker,
            seq,
            name: resolved.name,
            plugin: resolved.plugin,
            priority,
            turn,
            phase: options.phase,
            policy: resolved.policy,
            timeout: resolved.timeout,
            before,
            after,
            allowed: resolved.allowed,
            target: options.target,
            once: options.once.then(Default::default),
            pure: options.pure,
            part_of: options.part_of,
            location: options.location,
            counters: HandlerCounters::default(),
            handler: HandlerCell::new(handler),
        });
        let (replaces, base) = (resolved.replaces, resolved.base);
        Validated { index, descriptor: point, point_type, entry, replaces, base }
    }

    /// The record of a plugin: the current generation, or a new one that starts
    /// with this batch.
    fn record(&mut self, id: &PluginId, batch: &mut Batch) -> Arc<PluginRecord> {
        let current =
            self.plugins.get(id).filter(|record| Some(record.generation()) != batch.instead_of);
        match current.or(batch.plugins.get(id)) {
            Some(record) => Arc::clone(record),
            None => self.begin(id, About::default(), batch),
        }
    }

    /// Begins a generation of a plugin with this batch.
    fn begin(&mut self, id: &PluginId, about: About, batch: &mut Batch) -> Arc<PluginRecord> {
        let generation = self.number();
        let record = Arc::new(PluginRecord::new(self.name(id), generation, about));
        batch.plugins.insert(id.clone(), Arc::clone(&record));
        record
    }

    /// The place in the source, with a number from the second time on.
    fn name_by_place(&self, index: usize, base: &Key, batch: &mut Batch) -> Arc<str> {
        let point = self.points.get(&index);
        let owner = point.and_then(|point| point.anonymous.get(&base.0));
        let before = owner.and_then(|places| places.get(&base.1)).copied().unwrap_or(0);
        let times = batch.places.entry((index, base.clone())).or_insert(before);
        loop {
            *times += 1;
            let name: Arc<str> = if *times == 1 {
                Arc::clone(&base.1)
            } else {
                format!("{}#{times}", base.1).into()
            };
            let key = (base.0, Arc::clone(&name));
            let free = point.is_none_or(|point| point.find(base.0, &name).is_none())
                && !batch.taken.contains_key(&(index, key));
            if free {
                return name;
            }
        }
    }

    fn apply(
        &mut self,
        validated: Vec<Validated>,
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
        for one in validated {
            let point = self
                .points
                .entry(one.index)
                .or_insert_with(|| PointStore::new(one.descriptor, one.point_type));
            if let Some(old) = one.replaces {
                point.forget(&old);
                change.removed.push(old);
            }
            point.know(&one.entry);
            if let Some(base) = one.base {
                *point.anonymous.entry(base.0).or_default().entry(base.1).or_default() += 1;
            }
            change.added.push((one.index, one.entry));
        }
        for (index, plan) in plans {
            if let Some(point) = self.points.get_mut(&index) {
                point.follow(plan);
                change.points.push(index);
            }
        }
        change
    }
}

/// A replacement has the priority of what it replaces, unless it moves.
fn priority(options: &Options, replaces: Option<&Entry>) -> i32 {
    match replaces {
        Some(old) if !options.moves(old) => old.priority,
        _ => options.priority.unwrap_or(0),
    }
}

fn checked(name: Result<(), (String, &'static str)>) -> Result<(), RegisterError> {
    name.map_err(|(name, problem)| RegisterError::BadName { name, problem })
}

/// The policy of a handler: its point's, or a stricter one.
fn policy(
    point: &PointDescriptor,
    handler: &str,
    asked: Option<FailurePolicy>,
) -> Result<FailurePolicy, RegisterError> {
    let declared = point.policy();
    match asked {
        None => Ok(declared),
        Some(_) if point.is_fixed() => {
            Err(RegisterError::FixedPolicy { point: point.name(), handler: handler.to_owned() })
        }
        Some(asked) if asked < declared => Err(RegisterError::PolicyTooLax {
            point: point.name(),
            handler: handler.to_owned(),
            asked,
            declared,
        }),
        Some(asked) => Ok(asked),
    }
}

fn check_quota(
    quota: &Quota,
    point: &PointDescriptor,
    handler: &str,
    plugin: &PluginRecord,
    priority: i32,
    others: usize,
) -> Result<(), RegisterError> {
    quota.check(point, priority, others).map_err(|refusal| RegisterError::Refused {
        point: point.name(),
        handler: handler.to_owned(),
        plugin: plugin.id().to_string(),
        refusal,
    })
}
