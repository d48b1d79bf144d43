//! The handlers of one point.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use super::sequence::{Mark, Sequence};
use crate::point::PointDescriptor;
use crate::registry::entry::Entry;
use crate::registry::list::HandlerList;
use crate::registry::order::{self, Sorted};

#[derive(Debug)]
pub(crate) struct PointStore {
    pub(crate) descriptor: &'static PointDescriptor,
    pub(crate) order: Sequence,
    pub(crate) list: Arc<HandlerList>,
    /// The handlers of each owner, by name.
    names: HashMap<Option<u64>, HashMap<Arc<str>, Arc<Entry>>>,
    /// How many handlers were named for each place in the source, by owner.
    pub(super) anonymous: HashMap<Option<u64>, HashMap<Arc<str>, u64>>,
    /// The names in the handlers' constraints, with how often each occurs.
    named: HashMap<Arc<str>, usize>,
}

/// How a point's order changes.
pub(super) enum Plan {
    /// With targets, if any of its constraints names a handler.
    Insert {
        at: usize,
        entry: Arc<Entry>,
        mark: Mark,
    },
    Swap {
        at: usize,
        entry: Arc<Entry>,
    },
    Resort(Sorted),
}

impl PointStore {
    pub(super) fn new(descriptor: &'static PointDescriptor, point_type: TypeId) -> Self {
        Self {
            descriptor,
            order: Sequence::default(),
            list: Arc::new(HandlerList::new(&[], point_type)),
            names: HashMap::new(),
            anonymous: HashMap::new(),
            named: HashMap::new(),
        }
    }

    /// Whether this very handler is registered here.
    pub(super) fn has(&self, entry: &Entry) -> bool {
        self.find(entry.generation(), &entry.name).is_some_and(|known| known.id == entry.id)
    }

    /// The handler of that name of that owner.
    pub(super) fn find(&self, generation: Option<u64>, name: &str) -> Option<&Arc<Entry>> {
        self.names.get(&generation)?.get(name)
    }

    /// The handlers of that owner, in no order.
    pub(super) fn all_of(&self, generation: Option<u64>) -> Vec<Arc<Entry>> {
        self.names.get(&generation).map_or_else(Vec::new, |names| names.values().cloned().collect())
    }

    pub(super) fn has_generation(&self, generation: u64) -> bool {
        self.names.contains_key(&Some(generation))
    }

    /// Whether a constraint may mean this handler.
    pub(super) fn is_named(&self, entry: &Entry) -> bool {
        let is_named = |name: &str| self.named.contains_key(name);
        !self.named.is_empty()
            && (is_named(&entry.name)
                || entry.plugin.as_ref().is_some_and(|plugin| {
                    let id = plugin.id();
                    is_named(&format!("{id}/{}", entry.name)) || is_named(&format!("{id}/*"))
                }))
    }

    pub(super) fn know(&mut self, entry: &Arc<Entry>) {
        let names = self.names.entry(entry.generation()).or_default();
        names.insert(Arc::clone(&entry.name), Arc::clone(entry));
        if let Some(plugin) = &entry.plugin {
            plugin.gained();
        }
        for name in entry.before.iter().chain(&entry.after) {
            *self.named.entry(Arc::clone(name)).or_default() += 1;
        }
    }

    pub(super) fn forget(&mut self, entry: &Entry) {
        if let Some(names) = self.names.get_mut(&entry.generation()) {
            names.remove(&*entry.name);
            if names.is_empty() {
                self.names.remove(&entry.generation());
            }
        }
        if let Some(plugin) = &entry.plugin {
            plugin.lost();
        }
        if self.names.is_empty() {
            // No handler is left to clash with: numbering starts afresh.
            self.anonymous.clear();
        }
        for name in entry.before.iter().chain(&entry.after) {
            if let Some(count) = self.named.get_mut(name) {
                *count -= 1;
                if *count == 0 {
                    self.named.remove(name);
                }
            }
        }
    }

    /// Removes one handler, which is here.
    pub(super) fn remove_one(&mut self, entry: &Entry) {
        let at = (!self.is_named(entry)).then(|| self.order.place_of_last(entry)).flatten();
        match at {
            Some(at) => {
                self.forget(entry);
                self.list = Arc::new(self.list.without(at));
                self.order.remove(at);
            }
            None => drop(self.remove(|other| other.id == entry.id)),
        }
    }

    /// Removes those handlers, and returns them in order.
    pub(super) fn remove(&mut self, leaves: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let (leaving, staying): (Vec<_>, Vec<_>) =
            self.order.take().into_iter().partition(|entry| {
                let leaves = leaves(entry);
                if leaves {
                    self.forget(entry);
                }
                leaves
            });
        // The constraints that name those have no effect any more.
        let sorted = order::sorted(staying, |_| false);
        self.resort(sorted.expect("taking a handler away cannot close a circle of built-in ones"));
        leaving
    }

    fn resort(&mut self, sorted: Sorted) {
        self.list = Arc::new(self.list.replaced(&sorted.order));
        self.order = Sequence::new(sorted);
    }

    pub(super) fn follow(&mut self, plan: Plan) {
        match plan {
            Plan::Insert { at, entry, mark } => {
                self.list = Arc::new(self.list.with(at, &entry));
                self.order.insert(at, entry, mark);
            }
            Plan::Swap { at, entry } => {
                self.list = Arc::new(self.list.swapped(at, &entry));
                self.order.swap(at, &entry);
            }
            Plan::Resort(sorted) => self.resort(sorted),
        }
    }

    /// The handlers in order, each with how often it was called.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&Arc<Entry>, u64)> {
        let walks = self.list.walks();
        self.order.iter().zip(walks).map(|(entry, walks)| {
            let calls = entry.counters.calls().wrapping_add(walks);
            // A fire under way may have taken back a call that it counts only
            // when it ends.
            (entry, calls.cast_signed().max(0).cast_unsigned())
        })
    }
}
