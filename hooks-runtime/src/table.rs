//! The per-registry state of every point, found by the point's static index.
//!
//! Chunk `k` holds `64 << k` points, is made on first use and never moves, so
//! a look-up is two loads and no lock, however many points there are.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const FIRST_CHUNK: usize = 64;
/// Enough chunks for more points than a program can declare.
const CHUNKS: usize = 20;

/// What a fire reads before anything else.
#[derive(Debug, Default)]
pub(crate) struct PointState {
    /// The number of handlers, times two, plus one once the point was fired.
    word: AtomicUsize,
}

const FIRED: usize = 1;
const ONE_HANDLER: usize = 2;

impl PointState {
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
    chunks: [OnceLock<Box<[PointState]>>; CHUNKS],
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> &PointState {
        let (chunk, offset) = locate(index);
        match self.chunks[chunk].get() {
            Some(states) => &states[offset],
            None => self.make(chunk, offset),
        }
    }

    #[cold]
    fn make(&self, chunk: usize, offset: usize) -> &PointState {
        let states = self.chunks[chunk]
            .get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| PointState::default()).collect());
        &states[offset]
    }
}

#[inline]
fn locate(index: usize) -> (usize, usize) {
    let shifted = index + FIRST_CHUNK;
    let chunk = (shifted.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, shifted - (FIRST_CHUNK << chunk))
}

#[cfg(test)]
mod tests {
    use super::{FIRST_CHUNK, Table, locate};

    #[test]
    fn every_index_has_a_place_of_its_own() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(FIRST_CHUNK - 1), (0, FIRST_CHUNK - 1));
        assert_eq!(locate(FIRST_CHUNK), (1, 0));
        assert_eq!(locate(3 * FIRST_CHUNK - 1), (1, 2 * FIRST_CHUNK - 1));
        assert_eq!(locate(3 * FIRST_CHUNK), (2, 0));
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
        state.set_len(0);
        assert!(state.was_fired());
        assert_eq!(state.fire(|| Err("not asked again")), Ok(false));
    }
}
