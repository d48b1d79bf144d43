//! The plugin ids that were asked for, though no plugin ever had them.
//!
//! Both memories are bounded, whatever is asked for: the memory of ids in use may
//! have false positives, and then an unknown id is not listed.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::escape::{escaped, excerpt};

/// So many ids are remembered; of more, those that come first by name.
const MOST: usize = 64;

/// The bits that ids in use set, two each.
const BITS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct KnownIds {
    /// Empty until the first id is used.
    used: Vec<u64>,
    unknown: BTreeSet<String>,
}

impl KnownIds {
    /// Notes that a plugin of that id has registered a handler.
    pub(super) fn used(&mut self, id: &str) {
        self.used.resize(BITS / 64, 0);
        for bit in bits(id) {
            self.used[bit / 64] |= 1 << (bit % 64);
        }
        self.unknown.remove(id);
    }

    /// Notes that a plugin of that id was asked for.
    pub(super) fn asked_for(&mut self, id: &str) {
        let is_set = |bit: usize| self.used.get(bit / 64).is_some_and(|w| w >> (bit % 64) & 1 == 1);
        if bits(id).into_iter().all(is_set) {
            return;
        }
        // Not checked yet, so not kept as it is.
        let short = id.len() <= 64 && id.is_ascii();
        self.unknown.insert(if short { escaped(id).to_string() } else { excerpt(id) });
        if self.unknown.len() > MOST {
            self.unknown.pop_last();
        }
    }

    pub(super) fn unknown(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().map(String::as_str)
    }
}

fn bits(id: &str) -> [usize; 2] {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    let hash = hasher.finish().to_le_bytes();
    [[hash[0], hash[1]], [hash[2], hash[3]]].map(|half| usize::from(u16::from_le_bytes(half)))
}
