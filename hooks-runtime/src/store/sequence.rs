//! The handlers of a point in their order, with what finds a place in it.
//!
//! An entry is *astray* where a constraint keeps it from its place by key: it
//! moves, or one with a larger key stands before it. All others are in the
//! order of their keys, so a place among them is found by halving.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

use crate::entry::Entry;
use crate::order::{self, Conflict, Key, Names, Sorted, key};

#[derive(Debug, Default)]
pub(crate) struct Sequence {
    order: Vec<Arc<Entry>>,
    astray: HashSet<u64>,
    /// The plugins' handlers that their constraints place.
    moved: HashSet<u64>,
    /// The plugins' handlers whose constraints cannot be kept.
    dropped: Vec<(Arc<Entry>, Conflict)>,
    /// Whether a change has to be sorted out in full: a plugin that has
    /// constraints here is held to some priorities, or what moves is named by
    /// built-in handlers.
    is_delicate: bool,
}

impl Sequence {
    pub(crate) fn new(sorted: Sorted) -> Self {
        let Sorted { order, moved, dropped, is_tangled } = sorted;
        let mut astray = moved.clone();
        let mut largest = None;
        for entry in order.iter().filter(|entry| !moved.contains(&entry.id)) {
            if Some(key(entry)) < largest {
                astray.insert(entry.id);
            } else {
                largest = Some(key(entry));
            }
        }
        let mut asking = order.iter().filter(|entry| order::is_constrained(entry));
        let is_delicate = is_tangled || asking.any(|entry| entry.allowed.is_some());
        Self { order, astray, moved, dropped, is_delicate }
    }

    pub(crate) fn dropped(&self) -> &[(Arc<Entry>, Conflict)] {
        &self.dropped
    }

    /// Where a new entry goes that no constraint of others names, if no other
    /// entry has to move for it and that is cheap to tell.
    pub(super) fn place_for(&self, new: &Arc<Entry>, targets: &[&Arc<Entry>]) -> Option<usize> {
        let is_held = new.allowed.is_some() && order::is_constrained(new);
        if self.is_delicate || is_held || targets.iter().any(|target| target.phase != new.phase) {
            return None;
        }
        let by_key = self.first_behind(key(new));
        let behind = targets.iter().map(|target| self.position(target) + 1).max().unwrap_or(0);
        if new.plugin.is_some() && !targets.is_empty() {
            // Into the gap where its key puts it, or into that behind its
            // targets; there, before the first with a larger key.
            let is_moved = |at: &usize| self.is_moved(*at);
            let gap = (0..by_key).rev().take_while(is_moved).last().unwrap_or(by_key);
            let start = behind.max(gap);
            let passes = |at: &usize| self.is_moved(*at) && key(&self.order[*at]) < key(new);
            return Some(start + (start..self.order.len()).take_while(passes).count());
        }
        let at = if behind <= by_key {
            by_key
        } else {
            let larger = |at: &usize| !self.is_moved(*at) && key(&self.order[*at]) > key(new);
            (behind..self.order.len()).find(larger).unwrap_or(self.order.len())
        };
        // A new neighbour divides the gap of those that moved into it.
        let divides = at.checked_sub(1).is_some_and(|before| self.is_moved(before));
        (!divides).then_some(at)
    }

    /// Where an entry stands that nothing else depends on: taken away, all
    /// others stay in their order.
    pub(super) fn place_of_last(&self, entry: &Entry) -> Option<usize> {
        if self.is_delicate || !entry.before.is_empty() {
            return None;
        }
        let at = self.position(entry);
        // Two gaps would become one.
        let joins = !self.is_moved(at)
            && at.checked_sub(1).is_some_and(|before| self.is_moved(before))
            && self.is_moved(at + 1);
        (!joins).then_some(at)
    }

    /// The position of an entry that is here.
    pub(super) fn position(&self, entry: &Entry) -> usize {
        let at = if self.astray.contains(&entry.id) {
            // One that was put behind others is rather at the end.
            self.order.iter().rposition(|other| other.id == entry.id)
        } else {
            let (phase, priority, seq) = key(entry);
            // Numbers begin with one, and no two are the same.
            Some(self.first_behind((phase, priority, seq - 1)))
        };
        at.expect("the store asks for entries that are here")
    }

    /// The first position with a larger key among those that do not move.
    fn first_behind(&self, wanted: Key) -> usize {
        let (mut start, mut end, mut found) = (0, self.order.len(), self.order.len());
        while start < end {
            let middle = usize::midpoint(start, end);
            let in_order = |at: &usize| !self.astray.contains(&self.order[*at].id);
            match (middle..end).find(in_order) {
                Some(at) if key(&self.order[at]) <= wanted => start = at + 1,
                probe => {
                    found = probe.unwrap_or(found);
                    end = middle;
                }
            }
        }
        found
    }

    fn is_moved(&self, at: usize) -> bool {
        self.order.get(at).is_some_and(|entry| self.moved.contains(&entry.id))
    }

    /// Puts an entry where `place_for` said.
    pub(super) fn insert(&mut self, at: usize, entry: Arc<Entry>, targets: bool) {
        if targets {
            if entry.plugin.is_some() {
                self.moved.insert(entry.id);
                self.astray.insert(entry.id);
            } else if self.largest_before(at) > Some(key(&entry)) {
                self.astray.insert(entry.id);
            }
        }
        self.order.insert(at, entry);
    }

    /// Takes away the entry at a position that `place_of_last` said.
    pub(super) fn remove(&mut self, at: usize) {
        let entry = self.order.remove(at);
        self.moved.remove(&entry.id);
        self.dropped.retain(|(dropped, _)| dropped.id != entry.id);
        if self.astray.remove(&entry.id) {
            return;
        }
        // Some may have been astray because of this one.
        let mut largest = self.largest_before(at);
        for entry in &self.order[at..] {
            if self.moved.contains(&entry.id) {
                continue;
            }
            if !self.astray.contains(&entry.id) {
                break;
            }
            if Some(key(entry)) > largest {
                self.astray.remove(&entry.id);
                largest = Some(key(entry));
            }
        }
    }

    /// Puts an entry in the place of one with the same key and constraints.
    pub(super) fn swap(&mut self, at: usize, new: &Arc<Entry>) {
        let old = std::mem::replace(&mut self.order[at], Arc::clone(new));
        for ids in [&mut self.astray, &mut self.moved] {
            if ids.remove(&old.id) {
                ids.insert(new.id);
            }
        }
        for (dropped, _) in &mut self.dropped {
            if dropped.id == old.id {
                *dropped = Arc::clone(new);
            }
        }
    }

    /// The largest key before a position, of those that do not move.
    fn largest_before(&self, at: usize) -> Option<Key> {
        let in_order = |entry: &&Arc<Entry>| !self.astray.contains(&entry.id);
        self.order[..at].iter().rev().find(in_order).map(|entry| key(entry))
    }

    pub(crate) fn names(&self) -> Names<'_> {
        Names::new(&self.order)
    }
}

impl Deref for Sequence {
    type Target = [Arc<Entry>];

    fn deref(&self) -> &[Arc<Entry>] {
        &self.order
    }
}
