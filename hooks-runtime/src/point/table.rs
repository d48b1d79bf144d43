//! The per-registry state of every point, found by the point's static index.
//!
//! A chunk of the table never moves, so a look-up is a few loads and no lock,
//! however many points there are. The first chunk is part of the table: few
//! programs have more points, and theirs are found without following a pointer.

use std::array;

use crate::point::interest::{NO_MARKS, OBSERVED, PointState};
use crate::sync::OnceLock;
use crate::sync::atomic::{AtomicUsize, Ordering};

const CHUNK: usize = 512;
const LATER_CHUNKS: usize = 127;

/// The grow-only table of point states.
#[derive(Debug)]
pub(crate) struct Table {
    /// The marks of a point that was never fired.
    marks: usize,
    first: Chunk,
    later: [OnceLock<Box<Chunk>>; LATER_CHUNKS],
}

/// The points of one part of the table. What every fire asks is apart from what
/// those with handlers ask, so that it is found with one instruction.
#[derive(Debug)]
struct Chunk {
    states: [PointState; CHUNK],
    removals: [AtomicUsize; CHUNK],
}

impl Chunk {
    fn new(marks: usize) -> Self {
        Self {
            states: array::from_fn(|_| PointState::new(marks)),
            removals: array::from_fn(|_| AtomicUsize::new(0)),
        }
    }
}

impl Table {
    /// With `observed`, every fire of every point is.
    pub(crate) fn new(observed: bool) -> Self {
        let marks = if observed { OBSERVED } else { NO_MARKS };
        Self { marks, first: Chunk::new(marks), later: [const { OnceLock::new() }; LATER_CHUNKS] }
    }

    /// # Panics
    /// Past 65,536 points: no program declares that many by hand.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &PointState {
        match self.first.states.get(index) {
            Some(state) => state,
            None => &self.later(index).states[index % CHUNK],
        }
    }

    /// The state of a point that is one of the first.
    #[inline]
    pub(crate) fn among_first(&self, index: usize) -> Option<&PointState> {
        self.first.states.get(index)
    }

    /// How many times handlers of the point were closed.
    #[inline]
    pub(crate) fn removals(&self, index: usize) -> &AtomicUsize {
        match self.first.removals.get(index) {
            Some(removals) => removals,
            None => &self.later(index).removals[index % CHUNK],
        }
    }

    /// Counts that handlers of the point were closed: walks under way check each
    /// handler from now on.
    pub(crate) fn handlers_closed(&self, index: usize) {
        self.removals(index).fetch_add(1, Ordering::SeqCst);
    }

    #[cold]
    #[inline(never)]
    fn later(&self, index: usize) -> &Chunk {
        self.later[index / CHUNK - 1].get_or_init(|| Box::new(Chunk::new(self.marks)))
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::{CHUNK, LATER_CHUNKS, Table};
    use crate::point::interest::Interest;
    use crate::point::{ModelKind, PointDescriptor, SourceLocation};
    use crate::{Claim, HookRegistry, hook_points, on};

    hook_points! {
        /// Comes after many others.
        pub(crate) claiming Late(u32) -> u32;
    }

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let table = Table::new(false);
        for index in [0, CHUNK - 1, CHUNK, CHUNK * 2, CHUNK * (LATER_CHUNKS + 1) - 1] {
            assert!(!table.get(index).has_handlers(), "{index}");
            assert!(!table.get(index).is_quiet(), "{index}");
            assert_eq!(table.get(index).fire(|| Ok::<_, ()>(())), Ok(Interest::Quiet));
            assert!(table.get(index).is_quiet(), "{index}");
            table.get(index).set_len(1);
            assert!(table.get(index).has_handlers(), "{index}");
            assert!(!table.get(index).is_quiet(), "{index}");
        }
    }

    #[test]
    fn a_point_that_comes_after_many_others_is_fired() {
        for _ in 0..CHUNK {
            let location = SourceLocation::new("early.rs", 1, 1);
            PointDescriptor::new("early", ModelKind::Claiming, "", location).index();
        }
        let hooks = HookRegistry::new();
        let fire = || {
            let mut fire = Box::pin(hooks.fire_claiming::<Late>(&7));
            match fire.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(claim) => claim.unwrap(),
                Poll::Pending => panic!("no handler waits"),
            }
        };
        assert_eq!([fire(), fire()], [Claim::Unclaimed; 2]);
        hooks.register(on::<Late>().handler(|n: &u32| Some(*n))).unwrap();
        assert_eq!([fire(), fire()], [Claim::Claimed(7); 2]);
    }
}
