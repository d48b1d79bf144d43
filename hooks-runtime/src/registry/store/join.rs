//! Handlers joining the store: every check first, then every order, and only
//! then a change.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::point::Plan;
use super::{Change, Declared, Key, PointStore, Store, check_name};
use crate::error::{Duplicate, RegisterError};
use crate::handler::options::{Named, Options};
use crate::handler::registration::Registration;
use crate::handler::target::Target;
use crate::list::ListKind;
use crate::plugin::id::{PluginId, check_constraint, check_handler_name, check_target_name};
use crate::plugin::quota::Limits;
use crate::plugin::record::PluginRecord;
use crate::point::{FailurePolicy, PointDescriptor, SourceLocation};
use crate::presence::Presence;
use crate::registry::Settings;
use crate::registry::entry::{Counters, Entry, Owner};

/// A group of registrations on its way in.
///
/// It is made and dropped by whoever asks, outside the lock: a refused handler
/// is the user's, and its drop may use the registry.
pub(crate) struct Joining {
    /// Those not looked at yet, the next one last.
    waiting: Vec<Registration>,
    checked: Vec<Checked>,
    /// The plugins that begin their stay with this group.
    plugins: HashMap<PluginId, Arc<PluginRecord>>,
    /// Where the names of this group were taken.
    taken: HashMap<(usize, Key), SourceLocation>,
    /// The points of this group.
    declared: Declared,
    /// How many handlers this group adds to each stay.
    joined: HashMap<u64, usize>,
    /// How often this group was named for each place in the source.
    places: HashMap<(usize, Key), u64>,
    /// The stay whose handlers leave in the same change.
    instead_of: Option<u64>,
}

/// A registration that passed every check of its own.
pub(super) struct Checked {
    pub(super) index: usize,
    pub(super) descriptor: &'static PointDescriptor,
    kind: ListKind,
    pub(super) entry: Arc<Entry>,
    pub(super) replaces: Option<Arc<Entry>>,
    /// The place in the source that it is named for.
    base: Option<Key>,
}

/// What the checks of one registration work out.
struct Terms {
    name: Arc<str>,
    base: Option<Key>,
    plugin: Option<Arc<PluginRecord>>,
    policy: FailurePolicy,
    timeout: Option<Duration>,
    allowed: Option<RangeInclusive<i32>>,
    replaces: Option<Arc<Entry>>,
}

impl Joining {
    pub(crate) fn new(mut group: Vec<Registration>) -> Self {
        group.reverse();
        Self {
            checked: Vec::with_capacity(group.len()),
            waiting: group,
            plugins: HashMap::new(),
            taken: HashMap::new(),
            declared: Declared::new(),
            joined: HashMap::new(),
            places: HashMap::new(),
            instead_of: None,
        }
    }

    /// The handlers of that stay leave in the same change.
    pub(crate) fn instead_of(&mut self, stay: Option<u64>) {
        self.instead_of = stay;
    }
}

impl Store {
    /// Registers a group, whole or not at all.
    pub(crate) fn register(
        &mut self,
        group: &mut Joining,
        settings: &Settings,
    ) -> Result<Change, RegisterError> {
        while let Some(registration) = group.waiting.last() {
            let (descriptor, index) = (registration.point, registration.point.index());
            // Only the options are needed, so the handler stays where it is.
            let options = registration.options.clone();
            let terms = self.terms(descriptor, index, &options, settings, group)?;
            if let Some(registration) = group.waiting.pop() {
                group.checked.push(self.enter(index, registration, terms));
            }
        }
        let leaving = self.entries_of(group.instead_of);
        let plans = self.plan(&group.checked, &leaving)?;
        for id in group.plugins.keys() {
            self.known.used(id.as_str());
        }
        self.plugins.extend(group.plugins.drain());
        self.declared.extend(group.declared.drain());
        let change = self.apply(std::mem::take(&mut group.checked), leaving, plans);
        if let Some(stay) = group.instead_of {
            self.forget_places(stay);
        }
        Ok(change)
    }

    /// The checks that concern one registration alone.
    fn terms(
        &mut self,
        descriptor: &'static PointDescriptor,
        index: usize,
        options: &Options,
        settings: &Settings,
        group: &mut Joining,
    ) -> Result<Terms, RegisterError> {
        check_name(&self.declared, descriptor)?;
        check_name(&group.declared, descriptor)?;
        group.declared.insert(descriptor.name(), descriptor);
        let plugin = match &options.plugin {
            None => None,
            Some(id) => Some(self.record(&PluginId::new(id)?, group)),
        };
        let stay = plugin.as_ref().map(|plugin| plugin.stay());
        let (name, base) = match &options.name {
            Named::Given(name) => {
                checked(check_handler_name(name))?;
                (Arc::clone(name), None)
            }
            Named::ByPlace => {
                let base: Key = (stay, options.location.to_string().into());
                (self.name_by_place(index, &base, group), Some(base))
            }
        };
        // No handler can ever have a name that is refused, so asking for one is
        // a mistake.
        let mut wanted = options.before.iter().chain(&options.after);
        wanted.try_for_each(|name| checked(check_constraint(name)))?;
        if let Some(name) = options.target.as_ref().and_then(Target::name) {
            check_target_name(name)
                .map_err(|(name, problem)| RegisterError::BadTarget { name, problem })?;
        }
        let key = (stay, Arc::clone(&name));
        let replaces = self.points.get(&index).and_then(|point| point.find(stay, &name)).cloned();
        let taken = group.taken.insert((index, key), options.location);
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
        let timeout = options.timeout.or(descriptor.time_limit()).or(settings.timeout);
        if timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(RegisterError::ZeroTimeout {
                point: descriptor.name(),
                handler: name.to_string(),
            });
        }
        let limits = plugin.as_ref().and_then(|plugin| self.limits.get(plugin.id()));
        if let (Some(plugin), Some(limits)) = (&plugin, limits) {
            // A handler that takes another's place adds none.
            let joined = group.joined.entry(plugin.stay()).or_default();
            let has = plugin.handlers() + *joined;
            let others = if replaces.is_some() { has - 1 } else { has };
            let priority = priority(options, replaces.as_deref());
            check_limits(limits, descriptor, &name, plugin, priority, others)?;
            *joined += usize::from(replaces.is_none());
        }
        let allowed = limits.and_then(Limits::allowed_priorities);
        Ok(Terms { name, base, plugin, policy, timeout, allowed, replaces })
    }

    fn enter(&mut self, index: usize, registration: Registration, terms: Terms) -> Checked {
        let Registration { point, kind, options, handler } = registration;
        let id = self.number();
        let priority = priority(&options, terms.replaces.as_deref());
        let kept = terms.replaces.as_ref().filter(|old| !options.moves(old));
        let (before, after) = match kept {
            Some(old) => (old.before.clone(), old.after.clone()),
            None => (options.before, options.after),
        };
        let seq = kept.map_or(id, |old| old.seq);
        let crowd =
            terms.plugin.as_ref().map(|plugin| Arc::clone(plugin.crowd())).or(options.crowd);
        let entry = Arc::new(Entry {
            id,
            point,
            presence: Presence::new(crowd.is_some() || terms.timeout.is_some()),
            crowd,
            seq,
            name: terms.name,
            plugin: terms.plugin,
            priority,
            phase: options.phase,
            policy: terms.policy,
            timeout: terms.timeout,
            before,
            after,
            allowed: terms.allowed,
            target: options.target,
            location: options.location,
            counters: Counters::default(),
            handler,
        });
        let (replaces, base) = (terms.replaces, terms.base);
        Checked { index, descriptor: point, kind, entry, replaces, base }
    }

    /// The record of a plugin: the current stay, or a new one that begins with
    /// this group.
    fn record(&mut self, id: &PluginId, group: &mut Joining) -> Arc<PluginRecord> {
        let current = self.plugins.get(id).filter(|record| Some(record.stay()) != group.instead_of);
        if let Some(record) = current.or(group.plugins.get(id)) {
            return Arc::clone(record);
        }
        let stay = self.number();
        let record = Arc::new(PluginRecord::new(self.name(id), stay));
        group.plugins.insert(id.clone(), Arc::clone(&record));
        record
    }

    /// The place in the source, with a number from the second time on.
    fn name_by_place(&self, index: usize, base: &Key, group: &mut Joining) -> Arc<str> {
        let point = self.points.get(&index);
        let owner = point.and_then(|point| point.anonymous.get(&base.0));
        let before = owner.and_then(|places| places.get(&base.1)).copied().unwrap_or(0);
        let times = group.places.entry((index, base.clone())).or_insert(before);
        loop {
            *times += 1;
            let name: Arc<str> = if *times == 1 {
                Arc::clone(&base.1)
            } else {
                format!("{}#{times}", base.1).into()
            };
            let key = (base.0, Arc::clone(&name));
            let free = point.is_none_or(|point| point.find(base.0, &name).is_none())
                && !group.taken.contains_key(&(index, key));
            if free {
                return name;
            }
        }
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
            point.know(&check.entry);
            if let Some(base) = check.base {
                *point.anonymous.entry(base.0).or_default().entry(base.1).or_default() += 1;
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
        Some(asked) if asked < declared => Err(RegisterError::Loosens {
            point: point.name(),
            handler: handler.to_owned(),
            asked,
            declared,
        }),
        Some(asked) => Ok(asked),
    }
}

fn check_limits(
    limits: &Limits,
    point: &PointDescriptor,
    handler: &str,
    plugin: &PluginRecord,
    priority: i32,
    others: usize,
) -> Result<(), RegisterError> {
    limits.check(point, priority, others).map_err(|refusal| RegisterError::Refused {
        point: point.name(),
        handler: handler.to_owned(),
        plugin: plugin.id().to_string(),
        refusal,
    })
}
