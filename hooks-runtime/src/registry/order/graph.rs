//! What the constraints ask for, as a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::{Names, Wanted};
use crate::registry::entry::Entry;

/// One handler runs before another, because `asker`, one of the two, asks for
/// that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relation {
    pub(crate) first: usize,
    pub(crate) then: usize,
    pub(crate) asker: usize,
}

/// The relations that the constraints of the entries ask for.
pub(crate) fn relations(entries: &[Arc<Entry>]) -> Vec<Relation> {
    let names = Names::new(entries);
    let mut relations = Vec::new();
    for (asker, entry) in entries.iter().enumerate() {
        // A constraint on all handlers of a plugin does not know which of them
        // are guards, which run after all rewriters in any case.
        let targets = |name: &'_ Arc<str>| {
            let all = matches!(Wanted::parse(name), Wanted::All(_));
            let found = names.targets(asker, name);
            let found = found.filter(|&target| !all || entries[target].phase == entry.phase);
            found.collect::<Vec<_>>()
        };
        for target in entry.after.iter().flat_map(targets) {
            relations.push(Relation { first: target, then: asker, asker });
        }
        for target in entry.before.iter().flat_map(targets) {
            relations.push(Relation { first: asker, then: target, asker });
        }
    }
    relations
}

/// The indices below `len`, each behind all that it must follow; of those that
/// need not wait the smallest comes next.
pub(super) fn ordered(len: usize, relations: &[Relation]) -> Result<Vec<usize>, Stuck> {
    if relations.is_empty() {
        return Ok((0..len).collect());
    }
    let mut followers = vec![Vec::new(); len];
    let mut waits_for = vec![0_usize; len];
    for relation in relations {
        followers[relation.first].push(relation.then);
        waits_for[relation.then] += 1;
    }
    let mut free: BinaryHeap<_> =
        (0..len).filter(|&index| waits_for[index] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(len);
    while let Some(Reverse(next)) = free.pop() {
        order.push(next);
        for &follower in &followers[next] {
            waits_for[follower] -= 1;
            if waits_for[follower] == 0 {
                free.push(Reverse(follower));
            }
        }
    }
    if order.len() == len { Ok(order) } else { Err(Stuck { followers, waits_for }) }
}

/// An order that cannot be worked out, because of circles.
#[derive(Debug)]
pub(super) struct Stuck {
    followers: Vec<Vec<usize>>,
    /// How many others each still waits for: all that are not zero are on a
    /// circle or behind one.
    waits_for: Vec<usize>,
}

impl Stuck {
    /// One circle, the first repeated at the end.
    pub(super) fn circle(&self) -> Vec<usize> {
        let mut leaders = vec![None; self.followers.len()];
        for leader in (0..self.followers.len()).filter(|&leader| self.waits_for[leader] > 0) {
            for &follower in &self.followers[leader] {
                leaders[follower].get_or_insert(leader);
            }
        }
        // From each that waits to one that it waits for, until one repeats.
        let start = self.waits_for.iter().position(|&count| count > 0);
        let mut at = start.expect("one that waits is what makes it stuck");
        let mut steps = vec![None; self.followers.len()];
        let mut walk = Vec::new();
        loop {
            if let Some(step) = steps[at].replace(walk.len()) {
                walk.push(at);
                walk.drain(..step);
                walk.reverse();
                return walk;
            }
            walk.push(at);
            at = leaders[at].expect("one that waits has a leader that waits");
        }
    }
}
