//! The per-registry state of every point, found by the point's static index.
//!
//! A chunk of the table is made on first use and never moves, so a look-up is a
//! few loads and no lock, however many points there are.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const CHUNK: usize = 512;
const CHUNKS: usize = 128;

/// What a fire reads before anything else.
#[derive(Debug)]
pub(crate) struct PointState {
    /// The number of handlers, times two, plus one once the point was fired.
    word: AtomicUsize,
}

const FIRED: usize = 1;
const ONE_HANDLER: usize = 2;

impl PointState {
    const fn new() -> Self {
        Self { word: AtomicUsize::new(0) }
    }

    /// Whether nobody listens, and the point was fired before: the most that
    /// most fires ever ask.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Acquire) == FIRED
    }

    /// Whether anybody listens. The first fire of a point first does `begin`,
    /// and counts as one only if that succeeds.
    #[inline]
    pub(crate) fn fire<E>(&self, begin: impl FnOnce() -> Result<(), E>) -> Result<bool, E> {
        // Acquire pairs with the release in `set_len`: who sees the length
        // also sees the list that was published before it.
        let word = self.word.load(Ordering::Acquire);
        if word & FIRED == 0 {
            begin()?;
            self.word.fetch_or(FIRED, Ordering::Relaxed);
        }
        Ok(word >= ONE_HANDLER)
    }

    #[inline]
    pub(crate) fn has_handlers(&self) -> bool {
        self.word.load(Ordering::Acquire) >= ONE_HANDLER
    }

    pub(crate) fn was_fired(&self) -> bool {
        self.word.load(Ordering::Relaxed) & FIRED != 0
    }

    pub(crate) fn set_len(&self, len: usize) {
        let new = len * ONE_HANDLER;
        // The writer's lock is held, so only `FIRED` can change under us.
        let old = self.word.load(Ordering::Relaxed) & !FIRED;
        if new >= old {
            self.word.fetch_add(new - old, Ordering::Release);
        } else {
            self.word.fetch_sub(old - new, Ordering::Release);
        }
    }
}

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
    let states = chunk.get_or_init(|| Box::new([const { PointState::new() }; CHUNK]));
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

    #[test]
    fn the_length_and_the_mark_do_not_disturb_each_other() {
        let table = Table::new();
        let state = table.get(7);
        assert!(!state.has_handlers());
        assert!(!state.was_fired());
        state.set_len(3);
        assert_eq!(state.fire(|| Err("refused")), Err("refused"));
        assert!(!state.was_fired());
        assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(true));
        assert!(state.was_fired());
        assert!(!state.is_quiet());
        state.set_len(0);
        assert!(state.was_fired());
        assert!(state.is_quiet());
        assert_eq!(state.fire(|| Err("not asked again")), Ok(false));
    }
}
