//! The per-registry state of every point, found by the point's static index.
//!
//! A chunk of the table is made on first use and never moves, so a look-up is a
//! few loads and no lock, however many points there are.

use std::array;

use crate::point_state::PointState;
use crate::sync::OnceLock;

const CHUNK: usize = 512;
const CHUNKS: usize = 128;

/// The grow-only table of point states.
#[derive(Debug)]
pub(crate) struct Table {
    chunks: [OnceLock<Box<Chunk>>; CHUNKS],
}

/// A fixed length, so that an index within it needs no check.
type Chunk = [PointState; CHUNK];

impl Table {
    pub(crate) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// # Panics
    /// Past 65,536 points: no program declares that many by hand.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &PointState {
        let chunk = &self.chunks[index / CHUNK];
        match chunk.get() {
            Some(states) => &states[index % CHUNK],
            None => make(chunk, index),
        }
    }
}

#[cold]
fn make(chunk: &OnceLock<Box<Chunk>>, index: usize) -> &PointState {
    let states = chunk.get_or_init(|| Box::new(array::from_fn(|_| PointState::default())));
    &states[index % CHUNK]
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, CHUNKS, Table};

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let table = Table::new();
        for index in [0, CHUNK - 1, CHUNK, CHUNK * CHUNKS - 1] {
            assert!(!table.get(index).has_handlers(), "{index}");
            table.get(index).set_len(1);
            assert!(table.get(index).has_handlers(), "{index}");
        }
    }
}
