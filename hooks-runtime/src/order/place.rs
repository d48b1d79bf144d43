//! The places of plugins' handlers that have constraints.
//!
//! All other handlers are *fixed*: they stand in the order that the built-in
//! constraints give. A handler that moves goes into a *gap* between two of
//! them: the one where it would stand without its constraints, or the nearest
//! that is behind all its `after` targets and before all its `before` targets.
//! In one gap the rule is that of built-in handlers: each waits for those that
//! it must follow, then the lowest key comes next.
//!
//! Targets get their place before the handlers that name them. Of handlers
//! that name each other the one that was registered first is placed first, and
//! what others of its own plugin say of a handler counts as if it had said so
//! itself; so a handler that comes later finds no place, rather than taking
//! one from an earlier one.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::Conflict;
use super::graph::{self, Relation};
use crate::entry::Entry;

/// The entries in their order, as indices; or those whose constraints cannot
/// be kept. `base` is the order by the built-in relations alone. The relations
/// have no circle.
pub(super) fn placed(
    entries: &[Arc<Entry>],
    base: &[usize],
    relations: &[Relation],
) -> Result<Vec<usize>, Vec<(usize, Conflict)>> {
    let mut places = Places::new(entries, base, relations);
    places.fill();
    let order = places.order();
    let mut position = vec![0; entries.len()];
    for (at, &index) in order.iter().enumerate() {
        position[index] = at;
    }
    for relation in relations {
        if places.moves[relation.asker] && position[relation.first] > position[relation.then] {
            places.conflicts.entry(relation.asker).or_insert(Conflict::NoPlace);
        }
    }
    places.check_ranges(base);
    let conflicts = places.conflicts;
    if conflicts.is_empty() {
        return Ok(order);
    }
    let mut conflicts: Vec<_> = conflicts.into_iter().collect();
    conflicts.sort_unstable_by_key(|(index, _)| *index);
    Err(conflicts)
}

struct Places<'a> {
    entries: &'a [Arc<Entry>],
    relations: &'a [Relation],
    moves: Vec<bool>,
    /// The fixed ones, in order.
    fixed: Vec<usize>,
    /// For a fixed one, its place among the fixed; for one that moves, the gap
    /// where it would stand without its constraints. Gap `g` is before the
    /// fixed one at `g`.
    home: Vec<usize>,
    /// The gap of each that moves, once it has one.
    gap: Vec<Option<usize>>,
    conflicts: HashMap<usize, Conflict>,
}

impl<'a> Places<'a> {
    fn new(entries: &'a [Arc<Entry>], base: &[usize], relations: &'a [Relation]) -> Self {
        let mut moves = vec![false; entries.len()];
        for relation in relations {
            moves[relation.asker] = entries[relation.asker].plugin.is_some();
        }
        let mut fixed = Vec::with_capacity(entries.len());
        let mut home = vec![0; entries.len()];
        for &index in base {
            home[index] = fixed.len();
            if !moves[index] {
                fixed.push(index);
            }
        }
        let gap = vec![None; entries.len()];
        Self { entries, relations, moves, fixed, home, gap, conflicts: HashMap::new() }
    }

    /// Gives a gap to all that move, targets first.
    fn fill(&mut self) {
        let len = self.entries.len();
        let mut about: Vec<Vec<Relation>> = vec![Vec::new(); len];
        let mut waits_for = vec![0_usize; len];
        let mut askers: Vec<Vec<usize>> = vec![Vec::new(); len];
        for &relation in self.relations {
            for end in [relation.first, relation.then] {
                if self.moves[end] {
                    about[end].push(relation);
                }
            }
            let target = other_end(relation, relation.asker);
            if self.moves[relation.asker] && self.moves[target] {
                waits_for[relation.asker] += 1;
                askers[target].push(relation.asker);
            }
        }
        let moving: Vec<_> = (0..len).filter(|&index| self.moves[index]).collect();
        let mut free: BinaryHeap<_> =
            moving.iter().copied().filter(|&index| waits_for[index] == 0).map(Reverse).collect();
        let mut oldest = moving;
        oldest.sort_unstable_by_key(|&index| Reverse(self.entries[index].seq));
        loop {
            let next = free.pop().map(|Reverse(next)| next).or_else(|| oldest.pop());
            let Some(next) = next else { return };
            if self.gap[next].is_some() {
                continue;
            }
            self.place(next, &about[next]);
            for &asker in &askers[next] {
                waits_for[asker] -= 1;
                if waits_for[asker] == 0 {
                    free.push(Reverse(asker));
                }
            }
        }
    }

    fn place(&mut self, index: usize, about: &[Relation]) {
        let (mut lowest, mut highest) = (0, self.fixed.len());
        for &relation in about.iter().filter(|relation| self.counts(index, relation)) {
            let other = other_end(relation, index);
            let (before, behind) = match (self.moves[other], self.gap[other]) {
                (false, _) => (self.home[other], self.home[other] + 1),
                (true, Some(gap)) => (gap, gap),
                // It names this one as well, and follows it.
                (true, None) => continue,
            };
            if relation.first == index {
                highest = highest.min(before);
            } else {
                lowest = lowest.max(behind);
            }
        }
        let home = self.home[index];
        if lowest > highest {
            self.conflicts.insert(index, Conflict::NoPlace);
        }
        let gap = if lowest > highest { home } else { home.clamp(lowest, highest) };
        self.gap[index] = Some(gap);
    }

    /// Whether a relation binds the one at `index`: it asks for it itself, or
    /// a built-in handler does, or one of its own plugin.
    fn counts(&self, index: usize, relation: &Relation) -> bool {
        let asker = &self.entries[relation.asker];
        relation.asker == index
            || asker.plugin.is_none()
            || asker.owner_bit() == self.entries[index].owner_bit()
    }

    /// The fixed ones, with those that move in the gaps between them.
    fn order(&self) -> Vec<usize> {
        let gaps = self.gap.iter().enumerate();
        let mut moved: Vec<_> =
            gaps.filter_map(|(index, gap)| gap.map(|gap| (gap, index))).collect();
        moved.sort_unstable();
        let mut rank = vec![0; self.entries.len()];
        for (at, &(_, index)) in moved.iter().enumerate() {
            rank[index] = at;
        }
        let together = |relation: &&Relation| {
            let gaps = (self.gap[relation.first], self.gap[relation.then]);
            matches!(gaps, (Some(first), Some(then)) if first == then)
        };
        let ranked = |relation: &Relation| Relation {
            first: rank[relation.first],
            then: rank[relation.then],
            asker: rank[relation.asker],
        };
        let within: Vec<_> = self.relations.iter().filter(together).map(ranked).collect();
        let ranks = graph::ordered(moved.len(), &within).expect("the relations have no circle");
        // Relations are within one gap, so this is sorted by gap.
        let mut moved = ranks.into_iter().map(|rank| moved[rank]).peekable();
        let mut order = Vec::with_capacity(self.entries.len());
        for gap in 0..=self.fixed.len() {
            while let Some((_, index)) = moved.next_if(|(its, _)| *its == gap) {
                order.push(index);
            }
            order.extend(self.fixed.get(gap));
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
    fn check_ranges(&mut self, base: &[usize]) {
        let mut position = vec![0; self.entries.len()];
        for (at, &index) in base.iter().enumerate() {
            position[index] = at;
        }
        let mut beyond: HashMap<(u32, i32, i32), Beyond> = HashMap::new();
        for index in (0..self.entries.len()).filter(|&index| self.moves[index]) {
            let entry = &self.entries[index];
            let (Some(range), Some(gap)) = (&entry.allowed, self.gap[index]) else { continue };
            let bounds = (entry.owner_bit(), *range.start(), *range.end());
            let beyond =
                beyond.entry(bounds).or_insert_with(|| Beyond::new(self.entries, base, bounds));
            let at = position[index];
            let leads_out = match gap.cmp(&self.home[index]) {
                Ordering::Less => beyond.below(position[self.fixed[gap]], at),
                Ordering::Greater => beyond.above(at, position[self.fixed[gap - 1]] + 1),
                Ordering::Equal => false,
            };
            if leads_out {
                self.conflicts.entry(index).or_insert(Conflict::Range(range.clone()));
            }
        }
        for &relation in self.relations {
            let (index, other) = (relation.asker, other_end(relation, relation.asker));
            let (entry, named) = (&self.entries[index], &self.entries[other]);
            let home = self.home[index];
            if let (Some(range), Some(gap)) = (&entry.allowed, self.gap[other])
                && entry.owner_bit() != named.owner_bit()
                && ((relation.first == index && named.priority < *range.start() && gap <= home)
                    || (relation.then == index && named.priority > *range.end() && gap >= home))
            {
                self.conflicts.entry(index).or_insert(Conflict::Range(range.clone()));
            }
        }
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
