//! The per-registry state of every point, found by the point's static index.
//!
//! A chunk of the table never moves, so a look-up is a few loads and no lock,
//! however many points there are. The first chunk is part of the table: few
//! programs have more points, and theirs are found without following a pointer.

use std::array;

use crate::point::interest::{NO_MARKS, OBSERVED, PointState};
use crate::sync::OnceLock;

const CHUNK: usize = 512;
const LATER_CHUNKS: usize = 127;

/// The grow-only table of point states.
#[derive(Debug)]
pub(crate) struct Table {
    /// The marks of a point that was never fired.
    marks: usize,
    first: [PointState; CHUNK],
    later: [OnceLock<Box<[PointState; CHUNK]>>; LATER_CHUNKS],
}

impl Table {
    /// With `observed`, every fire of every point is.
    pub(crate) fn new(observed: bool) -> Self {
        let marks = if observed { OBSERVED } else { NO_MARKS };
        Self {
            marks,
            first: array::from_fn(|_| PointState::new(marks)),
            later: [const { OnceLock::new() }; LATER_CHUNKS],
        }
    }

    /// # Panics
    /// Past 65,536 points: no program declares that many by hand.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &PointState {
        match self.first.get(index) {
            Some(state) => state,
            None => self.later(index - CHUNK),
        }
    }

    /// Whether a fire of that point has nothing to do: all that most fires ask,
    /// and so written that for most of them it is one comparison.
    #[inline]
    pub(crate) fn is_quiet(&self, index: usize) -> bool {
        match self.first.get(index) {
            Some(state) => state.is_quiet(),
            None => self.later_is_quiet(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn later_is_quiet(&self, index: usize) -> bool {
        self.get(index).is_quiet()
    }

    #[cold]
    #[inline(never)]
    fn later(&self, index: usize) -> &PointState {
        let chunk = self.later[index / CHUNK]
            .get_or_init(|| Box::new(array::from_fn(|_| PointState::new(self.marks))));
        &chunk[index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, LATER_CHUNKS, Table};
    use crate::point::interest::Interest;

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let table = Table::new(false);
        for index in [0, CHUNK - 1, CHUNK, CHUNK * 2, CHUNK * (LATER_CHUNKS + 1) - 1] {
            assert!(!table.get(index).has_handlers(), "{index}");
            assert!(!table.is_quiet(index), "{index}");
            assert_eq!(table.get(index).fire(|| Ok::<_, ()>(())), Ok(Interest::Quiet));
            assert!(table.is_quiet(index), "{index}");
            table.get(index).set_len(1);
            assert!(table.get(index).has_handlers(), "{index}");
            assert!(!table.is_quiet(index), "{index}");
        }
    }
}
