//! The one order of the handlers of a point.
//!
//! Rewriters before guards, then the lower priority number first, then those
//! without a turn of their own before those with one, by that, then the
//! earlier registration. `before` and `after` refine it, in two steps:
//!
//! 1. The constraints of built-in handlers: a handler waits until all that it
//!    must follow have their place, and of those that need not wait the lowest
//!    number comes next.
//! 2. The constraints of plugins' handlers: each of those handlers, and no
//!    other, moves from there to the nearest place that its constraints allow
//!    (`place.rs`). So a plugin never changes the order of others among
//!    themselves.
//!
//! A constraint of a plugin that cannot be kept is an error for the group that
//! brings it. One that could be kept when it was registered and can no longer
//! be is dropped, for as long as that lasts, and listed by the audit: a plugin
//! cannot make the registration of another owner fail.
//!
//! The order is worked out when handlers change, never in a fire.

mod components;
mod graph;
mod names;
mod place;

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::registry::entry::{Entry, Phase};
pub(crate) use graph::{Relation, relations};
pub(crate) use names::{Names, Wanted, is_place};
use place::Conflicts;

/// What decides between two handlers that no constraint relates.
pub(crate) type Key = (Phase, i32, Option<Arc<str>>, u64);

pub(crate) fn key(entry: &Entry) -> Key {
    (entry.phase, entry.priority, entry.turn.clone(), entry.seq)
}

/// Whether an entry has constraints.
pub(crate) fn is_constrained(entry: &Entry) -> bool {
    !entry.before.is_empty() || !entry.after.is_empty()
}

/// The constraints of an entry, as its author reads them.
pub(crate) fn constraints(entry: &Entry) -> impl Iterator<Item = String> {
    let before = entry.before.iter().map(|name| format!("before `{name}`"));
    let after = entry.after.iter().map(|name| format!("after `{name}`"));
    before.chain(after)
}

/// The handlers of a point in their order.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) order: Vec<Arc<Entry>>,
    /// How each stands to the handlers that are attached to others.
    pub(crate) trees: Vec<Tree>,
    /// The plugins' handlers whose constraints cannot be kept.
    pub(crate) dropped: Vec<(Arc<Entry>, Conflict)>,
    /// Whether a built-in constraint names a handler that moves: then the place
    /// of the built-in one does not follow from where that handler went.
    pub(crate) is_tangled: bool,
}

/// How a handler came to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// It keeps its place in the base.
    Root,
    /// Its constraints attach it, by way of others or not, to the last handler
    /// before it that keeps its place.
    Previous,
    /// The same, to the next.
    Next,
}

/// Why the constraints of a plugin's handler cannot be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// They are part of a circle.
    Circle,
    /// The order of others leaves no place for the handler.
    NoPlace,
    /// The place is outside the priorities that the host allows the plugin.
    Range(RangeInclusive<i32>),
}

/// Why a group cannot be registered.
#[derive(Debug)]
pub(crate) enum Fault {
    /// A circle of constraints; the first handler is repeated at the end.
    Circle(Vec<Arc<Entry>>),
    /// The constraints of this new handler cannot be kept.
    Conflict(Arc<Entry>, Conflict),
}

/// From this round of dropping on, a plugin whose constraints still conflict
/// loses all of them: each round is a sort, and a chain of handlers that
/// depend on one another must not cost a sort for each.
const LAST_ROUND: usize = 4;

/// The entries in their order. `is_new` says which ids are of the group that
/// is being registered.
pub(crate) fn sorted(
    mut entries: Vec<Arc<Entry>>,
    is_new: impl Fn(u64) -> bool,
) -> Result<Sorted, Fault> {
    entries.sort_by_key(|entry| key(entry));
    if !entries.iter().any(|entry| is_constrained(entry)) {
        let trees = vec![Tree::Root; entries.len()];
        return Ok(Sorted { order: entries, trees, ..Sorted::default() });
    }
    let guards = entries.partition_point(|entry| entry.phase == Phase::Main);
    let (mut rewriting, mut guarding) = (Vec::new(), Vec::new());
    let mut sorted = Sorted::default();
    let mut dropped = Vec::new();
    for relation in relations(&entries) {
        let Relation { first, then, asker } = relation;
        match (first < guards, then < guards) {
            (true, true) => rewriting.push(relation),
            (false, false) => {
                let local = |index| index - guards;
                guarding.push(Relation {
                    first: local(first),
                    then: local(then),
                    asker: local(asker),
                });
            }
            // Guards judge the final payload, so each follows every rewriter.
            (true, false) => {}
            (false, true) if entries[asker].plugin.is_none() || is_new(entries[asker].id) => {
                let circle = [then, first, then].map(|index| Arc::clone(&entries[index]));
                return Err(Fault::Circle(circle.into()));
            }
            (false, true) => dropped.push(asker),
        }
    }
    // They come in the order of the askers.
    dropped.dedup();
    for &index in &dropped {
        sorted.dropped.push((Arc::clone(&entries[index]), Conflict::Circle));
    }
    let phases = [(0, guards, rewriting), (guards, entries.len(), guarding)];
    for (start, end, mut relations) in phases {
        relations.retain(|relation| dropped.binary_search(&(relation.asker + start)).is_err());
        sort_phase(&entries[start..end], &relations, &is_new, &mut sorted)?;
    }
    Ok(sorted)
}

/// Appends the entries of one phase, which come sorted by key.
fn sort_phase(
    entries: &[Arc<Entry>],
    relations: &[Relation],
    is_new: &impl Fn(u64) -> bool,
    sorted: &mut Sorted,
) -> Result<(), Fault> {
    let is_built_in = |relation: &&Relation| entries[relation.asker].plugin.is_none();
    let built_in: Vec<_> = relations.iter().filter(is_built_in).copied().collect();
    let entry_of = |index: usize| Arc::clone(&entries[index]);
    let base = graph::ordered(entries.len(), &built_in)
        .map_err(|stuck| Fault::Circle(stuck.circle().into_iter().map(entry_of).collect()))?;
    let mut asked: Vec<_> = relations.iter().filter(|it| !is_built_in(it)).copied().collect();
    for round in 1.. {
        if asked.is_empty() {
            sorted.order.extend(base.iter().map(|&index| entry_of(index)));
            sorted.trees.resize(sorted.order.len(), Tree::Root);
            return Ok(());
        }
        let all: Vec<_> = built_in.iter().chain(&asked).copied().collect();
        let conflicts = match place::placed(entries, &base, &all) {
            Ok(order) => {
                let mut moves = vec![false; entries.len()];
                for it in &asked {
                    moves[it.asker] = true;
                }
                let names_one = |it: &Relation| moves[it.first] || moves[it.then];
                sorted.is_tangled |= built_in.iter().any(names_one);
                sorted.order.extend(order.iter().map(|&(index, _)| entry_of(index)));
                sorted.trees.extend(order.iter().map(|&(_, tree)| tree));
                return Ok(());
            }
            Err(conflicts) => conflicts,
        };
        if let Some(fault) = fault_of_new(entries, &all, &conflicts, is_new) {
            return Err(fault);
        }
        drop_askers(entries, &mut asked, conflicts, round, sorted);
    }
    unreachable!("each round drops a handler's constraints, and without any it returns")
}

/// What is wrong with the group that is being registered, if it is to blame.
fn fault_of_new(
    entries: &[Arc<Entry>],
    relations: &[Relation],
    conflicts: &[(usize, Conflict)],
    is_new: &impl Fn(u64) -> bool,
) -> Option<Fault> {
    let entry_of = |index: usize| Arc::clone(&entries[index]);
    let (index, conflict) = conflicts.iter().find(|(index, _)| is_new(entries[*index].id))?;
    // A circle says more, if there is one: of handlers that name each other, or
    // of its own constraints with those of the host and of its own plugin.
    let owner = entries[*index].owner_bit();
    let concerns = |it: &&Relation| {
        let asker = &entries[it.asker];
        *conflict == Conflict::Circle || asker.plugin.is_none() || asker.owner_bit() == owner
    };
    let concerned: Vec<_> = relations.iter().filter(concerns).copied().collect();
    if let Err(stuck) = graph::ordered(entries.len(), &concerned) {
        return Some(Fault::Circle(stuck.circle().into_iter().map(entry_of).collect()));
    }
    Some(Fault::Conflict(entry_of(*index), conflict.clone()))
}

/// Takes the constraints that conflict out of `asked`.
fn drop_askers(
    entries: &[Arc<Entry>],
    asked: &mut Vec<Relation>,
    conflicts: Conflicts,
    round: usize,
    sorted: &mut Sorted,
) {
    let mut is_dropped = vec![false; entries.len()];
    let mut plugins: HashSet<u32> = HashSet::new();
    for (index, conflict) in conflicts {
        is_dropped[index] = true;
        plugins.insert(entries[index].owner_bit());
        sorted.dropped.push((Arc::clone(&entries[index]), conflict));
    }
    if round >= LAST_ROUND {
        for relation in asked.iter() {
            let entry = &entries[relation.asker];
            if plugins.contains(&entry.owner_bit()) && !is_dropped[relation.asker] {
                is_dropped[relation.asker] = true;
                sorted.dropped.push((Arc::clone(entry), Conflict::NoPlace));
            }
        }
    }
    asked.retain(|relation| !is_dropped[relation.asker]);
}
