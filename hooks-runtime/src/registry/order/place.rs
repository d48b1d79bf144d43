//! The places of plugins' handlers that have constraints.
//!
//! The order by the constraints of built-in handlers alone is the *base*. A
//! plugin's handler whose constraints name a handler *moves*; all others stay
//! where the base has them. One that moves keeps its place in the base where
//! that is behind all that it must follow and before all that must follow it.
//! Otherwise it is *attached* to the handler that stands in its way: right
//! behind the last that it must follow, or right before the first that must
//! follow it. Of several on one side of the same handler the base decides.
//!
//! So the places of two handlers depend on no third that they do not name: a
//! plugin never changes the order of others.
//!
//! Targets get their place before the handlers that name them. Of handlers
//! that name each other the one that was registered first is placed first.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::components;
use super::graph::Relation;
use super::{Conflict, Tree};
use crate::registry::entry::Entry;

/// Those whose constraints cannot be kept, by index.
pub(super) type Conflicts = Vec<(usize, Conflict)>;

/// The entries in their order, as indices, each with its part of a tree of
/// attached handlers; or those whose constraints cannot be kept. `base` is the
/// order by the built-in relations alone.
pub(super) fn placed(
    entries: &[Arc<Entry>],
    base: &[usize],
    relations: &[Relation],
) -> Result<Vec<(usize, Tree)>, Conflicts> {
    let mut places = Places::new(entries, base, relations);
    let component = places.fill();
    let order = places.order();
    let mut position = vec![0; entries.len()];
    for (at, &(index, _)) in order.iter().enumerate() {
        position[index] = at;
    }
    let mut has_circle = vec![false; entries.len()];
    for relation in relations.iter().filter(|relation| places.moves[relation.asker]) {
        if position[relation.first] > position[relation.then] {
            let target = other_end(*relation, relation.asker);
            if places.moves[target] && component[relation.asker] == component[target] {
                has_circle[component[target]] = true;
            } else {
                places.conflicts[relation.asker].get_or_insert(Conflict::NoPlace);
            }
        }
    }
    // All that name each other have their part in it.
    for index in (0..entries.len()).filter(|&index| places.moves[index]) {
        if has_circle[component[index]] {
            places.conflicts[index] = Some(Conflict::Circle);
        }
    }
    places.check_ranges(&position);
    let conflicts = places.conflicts.into_iter().enumerate();
    let conflicts: Conflicts =
        conflicts.filter_map(|(index, conflict)| Some((index, conflict?))).collect();
    if conflicts.is_empty() { Ok(order) } else { Err(conflicts) }
}

/// The side of a handler on which another is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Before,
    Behind,
}

struct Places<'a> {
    entries: &'a [Arc<Entry>],
    base: &'a [usize],
    relations: &'a [Relation],
    moves: Vec<bool>,
    /// The place of each in the base.
    rank: Vec<usize>,
    is_placed: Vec<bool>,
    /// What each is attached to.
    anchor: Vec<Option<(usize, Side)>>,
    /// How many anchors lead from each to one that keeps its place.
    depth: Vec<usize>,
    /// The rank of that one.
    root: Vec<usize>,
    /// Why the constraints of each cannot be kept.
    conflicts: Vec<Option<Conflict>>,
}

impl<'a> Places<'a> {
    fn new(entries: &'a [Arc<Entry>], base: &'a [usize], relations: &'a [Relation]) -> Self {
        let len = entries.len();
        let mut moves = vec![false; len];
        for relation in relations {
            moves[relation.asker] = entries[relation.asker].plugin.is_some();
        }
        let mut rank = vec![0; len];
        for (at, &index) in base.iter().enumerate() {
            rank[index] = at;
        }
        Self {
            entries,
            base,
            relations,
            is_placed: moves.iter().map(|moves| !moves).collect(),
            moves,
            anchor: vec![None; len],
            depth: vec![0; len],
            root: rank.clone(),
            rank,
            conflicts: vec![None; len],
        }
    }

    /// Places all that move, targets first. The number of the component of
    /// each: those with the same number name each other.
    fn fill(&mut self) -> Vec<usize> {
        let len = self.entries.len();
        let mut about: Vec<Vec<Relation>> = vec![Vec::new(); len];
        let mut targets: Vec<Vec<usize>> = vec![Vec::new(); len];
        for &relation in self.relations {
            for end in [relation.first, relation.then] {
                if self.moves[end] {
                    about[end].push(relation);
                }
            }
            let target = other_end(relation, relation.asker);
            if self.moves[relation.asker] && self.moves[target] {
                targets[relation.asker].push(target);
            }
        }
        let mut numbers = vec![0; len];
        let components = components::targets_first(&targets);
        for (number, mut component) in components.into_iter().enumerate() {
            component.sort_unstable_by_key(|&index| {
                let entry = &self.entries[index];
                (entry.turn.clone(), entry.seq)
            });
            for index in component {
                numbers[index] = number;
                if self.moves[index] {
                    self.place(index, &about[index]);
                }
            }
        }
        numbers
    }

    fn place(&mut self, index: usize, about: &[Relation]) {
        // The last that it must follow, the first that must follow it.
        let (mut last, mut first): (Option<usize>, Option<usize>) = (None, None);
        for &relation in about.iter().filter(|relation| self.counts(index, relation)) {
            let other = other_end(relation, index);
            if !self.is_placed[other] {
                // It names this one as well, and comes later.
            } else if relation.then == index {
                last = Some(last.map_or(other, |last| self.max(last, other)));
            } else {
                first = Some(first.map_or(other, |first| self.min(first, other)));
            }
        }
        self.is_placed[index] = true;
        if let (Some(last), Some(first)) = (last, first)
            && self.compare(last, first) != Ordering::Less
        {
            let conflict = if last == first { Conflict::Circle } else { Conflict::NoPlace };
            self.conflicts[index] = Some(conflict);
            return;
        }
        let rank = self.rank[index];
        let too_early = last.is_some_and(|last| self.root[last] > rank);
        let too_late = first.is_some_and(|first| self.root[first] < rank);
        let same_tree =
            last.zip(first).is_some_and(|(last, first)| self.root[last] == self.root[first]);
        if !too_early && !too_late && !same_tree {
            return;
        }
        let behind = last.map(|last| (last, Side::Behind));
        let before = first.map(|first| (first, Side::Before));
        let tries = if too_early { [behind, before] } else { [before, behind] };
        for anchor in tries.into_iter().flatten() {
            self.attach(index, anchor);
            let follows = last.is_none_or(|last| self.compare(last, index) == Ordering::Less);
            let leads = first.is_none_or(|first| self.compare(index, first) == Ordering::Less);
            if follows && leads {
                return;
            }
        }
    }

    fn attach(&mut self, index: usize, (anchor, side): (usize, Side)) {
        self.anchor[index] = Some((anchor, side));
        self.depth[index] = self.depth[anchor] + 1;
        self.root[index] = self.root[anchor];
    }

    /// Whether a relation binds the one at `index`: it asks for it itself, or
    /// a built-in handler does, or one of its own plugin.
    fn counts(&self, index: usize, relation: &Relation) -> bool {
        let asker = &self.entries[relation.asker];
        relation.asker == index
            || asker.plugin.is_none()
            || asker.owner_bit() == self.entries[index].owner_bit()
    }

    fn max(&self, one: usize, other: usize) -> usize {
        if self.compare(one, other) == Ordering::Less { other } else { one }
    }

    fn min(&self, one: usize, other: usize) -> usize {
        if self.compare(one, other) == Ordering::Greater { other } else { one }
    }

    /// Which of two that are placed comes first.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        if self.root[one] != self.root[other] {
            return self.root[one].cmp(&self.root[other]);
        }
        // Up to where their ways to the root meet, with the last step of each.
        let (mut one, mut other) = ((one, None), (other, None));
        while one.0 != other.0 {
            let deeper =
                if self.depth[one.0] >= self.depth[other.0] { &mut one } else { &mut other };
            let (anchor, side) = self.anchor[deeper.0].expect("the root is where all ways meet");
            *deeper = (anchor, Some((side, self.rank[deeper.0])));
        }
        match (one.1, other.1) {
            (None, None) => Ordering::Equal,
            (None, Some((side, _))) => side_of_root(side).reverse(),
            (Some((side, _)), None) => side_of_root(side),
            (Some(one), Some(other)) => one.cmp(&other),
        }
    }

    /// All in their order.
    fn order(&self) -> Vec<(usize, Tree)> {
        let mut attached: Vec<[Vec<usize>; 2]> = vec![Default::default(); self.entries.len()];
        for &index in self.base {
            if let Some((anchor, side)) = self.anchor[index] {
                attached[anchor][side as usize].push(index);
            }
        }
        let mut order = Vec::with_capacity(self.entries.len());
        // What is left to write, the next one last: a handler, with or without
        // those that are attached to it.
        let mut left: Vec<(usize, bool)> = Vec::new();
        for &root in self.base.iter().filter(|&&index| self.anchor[index].is_none()) {
            left.push((root, true));
            let mut tree = Tree::Next;
            while let Some((index, whole)) = left.pop() {
                if whole {
                    let [before, behind] = &attached[index];
                    left.extend(behind.iter().rev().map(|&index| (index, true)));
                    left.push((index, false));
                    left.extend(before.iter().rev().map(|&index| (index, true)));
                } else if index == root {
                    order.push((index, Tree::Root));
                    tree = Tree::Previous;
                } else {
                    order.push((index, tree));
                }
            }
        }
        order
    }

    /// Finds those that their constraints put before a handler of another
    /// owner with a number below what their plugin may use, or behind one with
    /// a number above.
    ///
    /// One of another plugin that moves counts where it would stand without
    /// its constraints, unless it is named: where it goes itself is not to
    /// decide about a third.
    fn check_ranges(&mut self, position: &[usize]) {
        let mut beyond: HashMap<(u32, i32, i32), Beyond> = HashMap::new();
        for index in (0..self.entries.len()).filter(|&index| self.moves[index]) {
            let entry = &self.entries[index];
            let Some(range) = &entry.allowed else { continue };
            let bounds = (entry.owner_bit(), *range.start(), *range.end());
            let beyond = beyond
                .entry(bounds)
                .or_insert_with(|| Beyond::new(self.entries, self.base, bounds));
            let (rank, root) = (self.rank[index], self.root[index]);
            let is_behind = position[index] >= position[self.base[root]];
            let leads_out = match root.cmp(&rank) {
                Ordering::Less => beyond.below(root + usize::from(is_behind), rank),
                Ordering::Greater => beyond.above(rank, root + usize::from(is_behind)),
                Ordering::Equal => false,
            };
            if leads_out {
                self.conflicts[index].get_or_insert(Conflict::Range(range.clone()));
            }
        }
        for &relation in self.relations {
            let (index, other) = (relation.asker, other_end(relation, relation.asker));
            let (entry, named) = (&self.entries[index], &self.entries[other]);
            let (rank, root) = (self.rank[index], self.root[other]);
            if let Some(range) = &entry.allowed
                && self.moves[other]
                && entry.owner_bit() != named.owner_bit()
                && ((relation.first == index && named.priority < *range.start() && root <= rank)
                    || (relation.then == index && named.priority > *range.end() && root >= rank))
            {
                self.conflicts[index].get_or_insert(Conflict::Range(range.clone()));
            }
        }
    }
}

/// How what is attached on that side compares to what it is attached to.
fn side_of_root(side: Side) -> Ordering {
    match side {
        Side::Before => Ordering::Less,
        Side::Behind => Ordering::Greater,
    }
}

/// How many handlers of other owners, up to each position, have a number below
/// or above what a plugin may use.
struct Beyond {
    below: Vec<u32>,
    above: Vec<u32>,
}

impl Beyond {
    fn new(
        entries: &[Arc<Entry>],
        order: &[usize],
        (owner, lowest, highest): (u32, i32, i32),
    ) -> Self {
        let counts = |is_beyond: &dyn Fn(&Entry) -> bool| {
            let mut count = 0;
            let mut counts = vec![0];
            counts.extend(order.iter().map(|&index| {
                let entry = &entries[index];
                count += u32::from(entry.owner_bit() != owner && is_beyond(entry));
                count
            }));
            counts
        };
        Self {
            below: counts(&|entry| entry.priority < lowest),
            above: counts(&|entry| entry.priority > highest),
        }
    }

    /// Whether any from `start` up to `end` is below.
    fn below(&self, start: usize, end: usize) -> bool {
        self.below[end] > self.below[start]
    }

    /// Whether any from `start` up to `end` is above.
    fn above(&self, start: usize, end: usize) -> bool {
        self.above[end] > self.above[start]
    }
}

fn other_end(relation: Relation, one: usize) -> usize {
    if relation.first == one { relation.then } else { relation.first }
}
