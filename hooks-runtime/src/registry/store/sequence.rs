//! The handlers of a point in their order, with what finds a place in it.
//!
//! An entry is *astray* where a constraint keeps it from its place by key: it
//! is attached to another, or one with a larger key stands before it. All others
//! are in the order of their keys, so a place among them is found by halving.

use std::ops::Deref;
use std::sync::Arc;

use crate::registry::entry::Entry;
use crate::registry::order::{self, Conflict, Key, Names, Sorted, Tree, key};

#[derive(Debug, Default)]
pub(crate) struct Sequence {
    order: Vec<Arc<Entry>>,
    /// What is special about the entry at each position.
    marks: Vec<Mark>,
    /// The plugins' handlers whose constraints cannot be kept.
    dropped: Vec<(Arc<Entry>, Conflict)>,
    /// Whether a change has to be sorted out in full: a plugin that has
    /// constraints here is held to some priorities, what moves is named by
    /// built-in handlers, or constraints are dropped, which are tried again
    /// with each change.
    is_delicate: bool,
}

/// Whether an entry is where its key puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    InOrder,
    /// One with a larger key stands before it.
    Behind,
    /// Its constraints attach it to the last entry before it that is not
    /// attached itself, or to the next one.
    Attached(Tree),
}

impl Sequence {
    pub(crate) fn new(sorted: Sorted) -> Self {
        let Sorted { order, trees, dropped, is_tangled } = sorted;
        let mut largest = None;
        let mark = |(entry, tree): (&Arc<Entry>, Tree)| {
            if tree != Tree::Root {
                Mark::Attached(tree)
            } else if Some(key(entry)) < largest {
                Mark::Behind
            } else {
                largest = Some(key(entry));
                Mark::InOrder
            }
        };
        let marks = order.iter().zip(trees).map(mark).collect();
        let mut asking = order.iter().filter(|entry| order::is_constrained(entry));
        let is_held = asking.any(|entry| entry.allowed.is_some());
        let is_delicate = is_tangled || is_held || !dropped.is_empty();
        Self { order, marks, dropped, is_delicate }
    }

    /// The entries, which are to be sorted anew.
    pub(super) fn take(&mut self) -> Vec<Arc<Entry>> {
        std::mem::take(self).order
    }

    pub(crate) fn dropped(&self) -> &[(Arc<Entry>, Conflict)] {
        &self.dropped
    }

    /// Where a new entry goes that no constraint of others names, if no other
    /// entry has to move for it and that is cheap to find out.
    pub(super) fn place_for(
        &self,
        new: &Arc<Entry>,
        targets: &[&Arc<Entry>],
    ) -> Option<(usize, Mark)> {
        let is_held = new.allowed.is_some() && order::is_constrained(new);
        if self.is_delicate || is_held || targets.iter().any(|target| target.phase != new.phase) {
            return None;
        }
        // A built-in constraint binds what it names, also what moves.
        let may_move =
            |target: &&Arc<Entry>| target.plugin.is_some() && order::is_constrained(target);
        if new.plugin.is_none() && targets.iter().any(may_move) {
            return None;
        }
        let by_key = self.first_behind(&key(new));
        let last = targets.iter().map(|target| self.position(target)).max();
        if targets.iter().any(|target| self.is_attached(self.position(target))) {
            return None;
        }
        let Some(last) = last.filter(|last| *last >= by_key) else {
            return Some((self.start_of_tree(by_key), Mark::InOrder));
        };
        if new.plugin.is_some() {
            // Attached behind its last target, where it is the first.
            let is_first = self.marks.get(last + 1) != Some(&Mark::Attached(Tree::Previous));
            return is_first.then_some((last + 1, Mark::Attached(Tree::Previous)));
        }
        let larger = |at: &usize| !self.is_attached(*at) && key(&self.order[*at]) > key(new);
        let at = (last + 1..self.order.len()).find(larger).unwrap_or(self.order.len());
        Some((self.start_of_tree(at), Mark::Behind))
    }

    /// The position of the first that is attached before the one at `at`, or of
    /// that one.
    fn start_of_tree(&self, at: usize) -> usize {
        let before = self.marks[..at].iter().rev();
        at - before.take_while(|mark| **mark == Mark::Attached(Tree::Next)).count()
    }

    /// Where an entry stands that nothing else depends on: taken away, all
    /// others stay in their order.
    pub(super) fn place_of_last(&self, entry: &Entry) -> Option<usize> {
        if self.is_delicate || !entry.before.is_empty() {
            return None;
        }
        Some(self.position(entry))
    }

    /// The position of an entry that is here.
    pub(super) fn position(&self, entry: &Entry) -> usize {
        let (phase, priority, turn, seq) = key(entry);
        // Numbers begin with one, and no two are the same.
        let by_key = self.first_behind(&(phase, priority, turn, seq - 1));
        if self.order.get(by_key).is_some_and(|other| other.id == entry.id) {
            return by_key;
        }
        // One that is astray was put behind others, so it is rather at the end.
        let at = self.order.iter().rposition(|other| other.id == entry.id);
        at.expect("the store asks only for registered entries")
    }

    /// The first position with a larger key among those that do not move.
    fn first_behind(&self, wanted: &Key) -> usize {
        let (mut start, mut end, mut found) = (0, self.order.len(), self.order.len());
        while start < end {
            let middle = usize::midpoint(start, end);
            let in_order = self.marks[middle..end].iter().position(|it| *it == Mark::InOrder);
            match in_order.map(|skipped| middle + skipped) {
                Some(at) if key(&self.order[at]) <= *wanted => start = at + 1,
                probe => {
                    found = probe.unwrap_or(found);
                    end = middle;
                }
            }
        }
        found
    }

    fn is_attached(&self, at: usize) -> bool {
        matches!(self.marks.get(at), Some(Mark::Attached(_)))
    }

    /// Puts an entry where `place_for` said.
    pub(super) fn insert(&mut self, at: usize, entry: Arc<Entry>, mark: Mark) {
        self.order.insert(at, entry);
        self.marks.insert(at, mark);
    }

    /// Takes away the entry at a position that `place_of_last` said.
    pub(super) fn remove(&mut self, at: usize) {
        self.order.remove(at);
        if self.marks.remove(at) != Mark::InOrder {
            return;
        }
        // Some may have been behind because of this one.
        let mut largest = self.largest_before(at);
        for (entry, mark) in self.order[at..].iter().zip(&mut self.marks[at..]) {
            match mark {
                Mark::InOrder => break,
                Mark::Behind if Some(key(entry)) > largest => {
                    largest = Some(key(entry));
                    *mark = Mark::InOrder;
                }
                Mark::Behind | Mark::Attached(_) => {}
            }
        }
    }

    /// Puts an entry in the place of one with the same key and constraints.
    pub(super) fn swap(&mut self, at: usize, new: &Arc<Entry>) {
        let old = std::mem::replace(&mut self.order[at], Arc::clone(new));
        for (dropped, _) in &mut self.dropped {
            if dropped.id == old.id {
                *dropped = Arc::clone(new);
            }
        }
    }

    /// The largest key before a position, of those that do not move.
    fn largest_before(&self, at: usize) -> Option<Key> {
        let last = self.marks[..at].iter().rposition(|mark| *mark == Mark::InOrder)?;
        Some(key(&self.order[last]))
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
