//! What the commands of a point said in the fires that are under way: the handlers that
//! come back to it find it there.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use hooks_runtime::handler::{FireKey, On};
use hooks_runtime::{FailurePolicy, on};

use super::CommandPoint;
use crate::command::{Command, FIRST};
use crate::dialect::Dialect;

/// Fires that were dropped, or that ended early, leave their notes until their key is used
/// again; there are never more of them than this. It is more than are under way at once, as
/// what one of those has noted must not be forgotten.
const MOST_FIRES: usize = 1 << 16;

/// What commands said, fire by fire, by their place in the configured order.
#[derive(Debug)]
pub(super) struct Notes<T>(Mutex<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    fires: HashMap<FireKey, BTreeMap<usize, T>>,
    order: VecDeque<FireKey>,
}

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self(Mutex::new(Inner { fires: HashMap::new(), order: VecDeque::new() }))
    }
}

impl<T: Clone> Notes<T> {
    fn inner<R>(&self, then: impl FnOnce(&mut Inner<T>) -> R) -> R {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A fire begins, or needs its notes no more: what is there under its key is forgotten.
    pub(super) fn forget(&self, fire: FireKey) {
        self.inner(|inner| {
            if inner.fires.remove(&fire).is_some() {
                inner.order.retain(|other| *other != fire);
            }
        });
    }

    /// The turn of a command begins. Commands have their turns in order, so what is there
    /// of it and of later ones is of another fire.
    pub(super) fn begin_turn(&self, fire: FireKey, command: usize) {
        self.inner(|inner| {
            if let Some(notes) = inner.fires.get_mut(&fire) {
                notes.split_off(&command);
            }
        });
    }

    pub(super) fn keep(&self, fire: FireKey, command: usize, note: T) {
        self.inner(|inner| {
            if !inner.fires.contains_key(&fire) {
                inner.order.push_back(fire);
            }
            inner.fires.entry(fire).or_default().insert(command, note);
            if inner.order.len() > MOST_FIRES {
                let oldest = inner.order.pop_front();
                oldest.and_then(|oldest| inner.fires.remove(&oldest));
            }
        });
    }

    /// What a command said in this fire.
    pub(super) fn of(&self, fire: FireKey, command: usize) -> Option<T> {
        self.inner(|inner| inner.fires.get(&fire)?.get(&command).cloned())
    }

    /// What the first command said for which that holds.
    pub(super) fn find(&self, fire: FireKey, holds: impl Fn(&T) -> bool) -> Option<T> {
        self.inner(|inner| inner.fires.get(&fire)?.values().find(|note| holds(note)).cloned())
    }
}

/// The registrations with which the fires of these commands begin, one of each dialect,
/// so that a scope without the dialect is without it. Without it notes of another fire would
/// count, so it is as closed as what relies on them: no setting turns it off by the way.
pub(super) fn beginnings<P: CommandPoint, T>(
    commands: &[Arc<Command>],
    begin: impl Fn(On<P>) -> T,
) -> Vec<T> {
    let mut dialects: Vec<Dialect> = Vec::new();
    for command in commands {
        if !dialects.contains(&command.entry.dialect) {
            dialects.push(command.entry.dialect);
        }
    }
    let first = |dialect: Dialect| on::<P>().name(FIRST).plugin(dialect.as_str());
    let closed = |on: On<P>| on.on_failure(FailurePolicy::Closed);
    dialects.into_iter().map(|dialect| begin(closed(first(dialect)))).collect()
}
