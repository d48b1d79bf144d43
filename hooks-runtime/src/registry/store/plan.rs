//! How the order of each point changes when a group joins.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::join::Validated;
use super::point::Plan;
use super::{PointStore, Store};
use crate::error::RegisterError;
use crate::point::PointDescriptor;
use crate::registry::entry::Entry;
use crate::registry::order::{self, Sorted, Wanted};

impl Store {
    /// Works out every new order before anything is changed: a circle of
    /// constraints must leave the store as it was.
    pub(super) fn plan(
        &self,
        validated: &[Validated],
        leaving: &[(usize, Arc<Entry>)],
    ) -> Result<BTreeMap<usize, Plan>, RegisterError> {
        let mut joining: BTreeMap<usize, (Vec<&Validated>, HashSet<u64>)> = BTreeMap::new();
        for check in validated {
            let (new, gone) = joining.entry(check.index).or_default();
            new.push(check);
            gone.extend(check.replaces.as_ref().map(|old| old.id));
        }
        for (index, entry) in leaving {
            joining.entry(*index).or_default().1.insert(entry.id);
        }
        let mut plans = BTreeMap::new();
        for (index, (new, gone)) in joining {
            let old = self.points.get(&index);
            // The common cases stay cheap however many handlers there are.
            let plan = match (old, &new[..]) {
                (Some(old), [one]) if gone.len() == usize::from(one.replaces.is_some()) => {
                    self.plan_for_one(old, one)
                }
                _ => None,
            };
            let plan = match plan {
                Some(plan) => plan,
                None => Plan::Resort(resorted(old, &new, &gone)?),
            };
            plans.insert(index, plan);
        }
        Ok(plans)
    }

    /// How one handler joins, if all others stay where they are.
    fn plan_for_one(&self, point: &PointStore, one: &Validated) -> Option<Plan> {
        let entry = &one.entry;
        if let Some(old) = &one.replaces {
            let at = stands_for(entry, old).then(|| point.order.position(old))?;
            return Some(Plan::Swap { at, entry: Arc::clone(entry) });
        }
        if !entry.before.is_empty() || point.is_named(entry) {
            return None;
        }
        if entry.after.iter().any(|name| matches!(Wanted::parse(name), Wanted::All(_))) {
            return None;
        }
        let targets = entry.after.iter().filter_map(|name| self.target(point, entry, name));
        let targets: Vec<_> = targets.collect();
        let (at, mark) = point.order.place_for(entry, &targets)?;
        Some(Plan::Insert { at, entry: Arc::clone(entry), mark })
    }

    /// The one handler that a new one means by a name.
    fn target<'p>(
        &self,
        point: &'p PointStore,
        asking: &Entry,
        name: &Arc<str>,
    ) -> Option<&'p Arc<Entry>> {
        match Wanted::parse(name) {
            Wanted::Name(name) => {
                point.find(asking.generation(), name).or_else(|| point.find(None, name))
            }
            Wanted::Of(plugin, name) => self
                .plugins
                .get(plugin)
                .and_then(|plugin| point.find(Some(plugin.generation()), name)),
            Wanted::All(_) => None,
        }
    }
}

/// The order of a point without the entries that go and with the new ones.
fn resorted(
    old: Option<&PointStore>,
    new: &[&Validated],
    gone: &HashSet<u64>,
) -> Result<Sorted, RegisterError> {
    let staying = old.into_iter().flat_map(|old| old.order.iter());
    let staying = staying.filter(|entry| !gone.contains(&entry.id));
    let all = staying.chain(new.iter().map(|check| &check.entry)).cloned().collect();
    // One that takes the very place of another brings no constraint with it.
    let keeps = |check: &&&Validated| {
        check.replaces.as_ref().is_some_and(|old| stands_for(&check.entry, old))
    };
    let new_ids: HashSet<_> =
        new.iter().filter(|check| !keeps(check)).map(|check| check.entry.id).collect();
    order::sorted(all, |id| new_ids.contains(&id)).map_err(|fault| {
        let point = new.first().map(|check| check.descriptor).or(old.map(|old| old.descriptor));
        RegisterError::of_order(point.map_or("", PointDescriptor::name), fault)
    })
}

/// Whether an entry can take the very place of another.
fn stands_for(new: &Entry, old: &Entry) -> bool {
    order::key(new) == order::key(old)
        && (&new.before, &new.after, &new.allowed) == (&old.before, &old.after, &old.allowed)
}
