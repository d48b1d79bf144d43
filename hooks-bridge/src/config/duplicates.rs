//! The same handler in several files runs once, and says where it was found.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Plan;
use super::entry::{Entry, Handler};
use crate::dialect::Dialect;

/// What makes two entries the same handler. A plugin's copy stays its own.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    dialect: Dialect,
    event: String,
    matcher: String,
    handler: Option<Handler>,
    plugin: Option<PathBuf>,
}

/// The entries that run, by what makes them the same.
#[derive(Debug, Default)]
pub(super) struct Duplicates(HashMap<Key, usize>);

impl Duplicates {
    /// Adds an entry, unless it is there already.
    pub(super) fn add(&mut self, plan: &mut Plan, entry: Entry) {
        if !entry.runs() {
            plan.entries.push(entry);
            return;
        }
        let key = Key {
            dialect: entry.dialect,
            event: entry.event.clone(),
            matcher: entry.matcher.clone().unwrap_or_default(),
            handler: entry.handler.clone(),
            plugin: entry.origin.plugin().map(ToOwned::to_owned),
        };
        let Some(first) = self.0.get(&key) else {
            self.0.insert(key, plan.entries.len());
            plan.entries.push(entry);
            return;
        };
        let first = &mut plan.entries[*first];
        // The user's own needs no grant, whoever repeats it.
        if first.origin.needs_trust() {
            first.origin = entry.origin;
        }
        first.also.push(entry.place);
    }
}
