//! The one order of the handlers of a point.
//!
//! Rewriters before guards, then the lower priority number first, then the
//! earlier registration. `before` and `after` refine it: a handler waits until
//! everyone it must follow has its place, and of those that need not wait the
//! lowest number comes next. The order is worked out when handlers change,
//! never in a fire.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use crate::entry::{Entry, Phase};

/// What decides between two handlers that no constraint relates.
pub(crate) fn key(entry: &Entry) -> (Phase, i32, u64) {
    (entry.phase, entry.priority, entry.seq)
}

/// Whether an entry asks for a place relative to others.
pub(crate) fn is_constrained(entry: &Entry) -> bool {
    !entry.before.is_empty() || !entry.after.is_empty()
}

/// The entries in their order, or the names of a circle of constraints, the
/// first repeated at the end.
pub(crate) fn sorted(mut entries: Vec<Arc<Entry>>) -> Result<Vec<Arc<Entry>>, Vec<String>> {
    entries.sort_by_key(|entry| key(entry));
    if !entries.iter().any(|entry| is_constrained(entry)) {
        return Ok(entries);
    }
    let followers = edges(&entries);
    let mut waits_for = vec![0_usize; entries.len()];
    for follower in followers.iter().flatten() {
        waits_for[*follower] += 1;
    }
    // Entries are sorted by key, so the smallest index is the smallest key.
    let mut free: BinaryHeap<_> =
        (0..entries.len()).filter(|&i| waits_for[i] == 0).map(Reverse).collect();
    let mut placed = Vec::with_capacity(entries.len());
    while let Some(Reverse(next)) = free.pop() {
        placed.push(Arc::clone(&entries[next]));
        for &follower in &followers[next] {
            waits_for[follower] -= 1;
            if waits_for[follower] == 0 {
                free.push(Reverse(follower));
            }
        }
    }
    if placed.len() == entries.len() {
        Ok(placed)
    } else {
        Err(circle(&entries, &followers, &waits_for))
    }
}

/// For each entry, those that must come after it.
fn edges(entries: &[Arc<Entry>]) -> Vec<Vec<usize>> {
    let mut called: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        called.entry(&entry.name).or_default().push(index);
        if let Some(plugin) = &entry.plugin {
            called.entry(plugin.id().as_str()).or_default().push(index);
        }
    }
    let named = |name: &Arc<str>, asking: usize| {
        let found = called.get(&**name).map_or(&[][..], Vec::as_slice);
        found.iter().copied().filter(move |&index| index != asking)
    };
    let mut followers = vec![Vec::new(); entries.len()];
    for (index, entry) in entries.iter().enumerate() {
        for other in entry.after.iter().flat_map(|name| named(name, index)) {
            followers[other].push(index);
        }
        for other in entry.before.iter().flat_map(|name| named(name, index)) {
            followers[index].push(other);
        }
    }
    // Guards judge the final payload, so each follows every rewriter. Where
    // there are no constraints the sort alone sees to that.
    let guards = entries.partition_point(|entry| entry.phase == Phase::Main);
    for rewriter in &mut followers[..guards] {
        rewriter.extend(guards..entries.len());
    }
    followers
}

/// Walks from a waiting entry to one that waits for it, until one repeats.
fn circle(entries: &[Arc<Entry>], followers: &[Vec<usize>], waits_for: &[usize]) -> Vec<String> {
    let leader_of = |waiting: usize| {
        (0..entries.len())
            .find(|&leader| waits_for[leader] > 0 && followers[leader].contains(&waiting))
            .expect("an entry that still waits has a leader that still waits")
    };
    let mut at = waits_for.iter().position(|&count| count > 0).expect("somebody waits");
    let mut walk = vec![at];
    loop {
        at = leader_of(at);
        let seen = walk.iter().position(|&step| step == at);
        walk.push(at);
        if let Some(start) = seen {
            // The walk went backwards, from follower to leader.
            return walk[start..].iter().rev().map(|&i| entries[i].name.to_string()).collect();
        }
    }
}
