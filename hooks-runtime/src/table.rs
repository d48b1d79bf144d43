//! The per-registry state of every point, found by the point's static index.
//!
//! A chunk of the table never moves, so a look-up is a few loads and no lock,
//! however many points there are. The first chunk is part of the table: few
//! programs have more points, and theirs are found without following a pointer.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const CHUNK: usize = 512;
const LATER_CHUNKS: usize = 127;

/// What a fire reads before anything else.
#[derive(Debug)]
pub(crate) struct PointState {
    /// The number of handlers, times four, and the marks below.
    word: AtomicUsize,
}

/// The point was fired.
const FIRED: usize = 0b01;
/// Somebody wants to be told of every fire.
const WATCHED: usize = 0b10;
const MARKS: usize = FIRED | WATCHED;
const ONE_HANDLER: usize = 0b100;

/// What a fire has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listening {
    /// Nothing: nobody is there.
    Nobody,
    /// To call the handlers.
    Somebody,
    /// To call the handlers, if there are any, and to tell of it.
    Watched,
}

impl PointState {
    const fn new(marks: usize) -> Self {
        Self { word: AtomicUsize::new(marks) }
    }

    /// Whether a fire has nothing to do: all that most fires ever ask.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Acquire) == FIRED
    }

    /// What a fire has to do; `None` at the first fire of the point, or where
    /// fires are watched.
    #[inline]
    pub(crate) fn listening(&self) -> Option<Listening> {
        // Acquire pairs with the release in `set_len`: who sees the length
        // also sees the list that was published before it.
        let word = self.word.load(Ordering::Acquire);
        if word == FIRED {
            Some(Listening::Nobody)
        } else if word & MARKS == FIRED {
            Some(Listening::Somebody)
        } else {
            None
        }
    }

    /// What a fire has to do. The first fire of a point first does `begin`,
    /// and counts as one only if that succeeds.
    pub(crate) fn fire<E>(&self, begin: impl FnOnce() -> Result<(), E>) -> Result<Listening, E> {
        let word = self.word.load(Ordering::Acquire);
        if word & FIRED == 0 {
            begin()?;
            self.word.fetch_or(FIRED, Ordering::Relaxed);
        }
        Ok(match word {
            _ if word & WATCHED != 0 => Listening::Watched,
            ONE_HANDLER.. => Listening::Somebody,
            _ => Listening::Nobody,
        })
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
        // The writer's lock is held, so only the marks can change under us.
        let old = self.word.load(Ordering::Relaxed) & !MARKS;
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
    /// The marks of a point that was never fired.
    marks: usize,
    first: [PointState; CHUNK],
    later: [OnceLock<Box<[PointState; CHUNK]>>; LATER_CHUNKS],
}

impl Table {
    /// With `watched`, every fire of every point is.
    pub(crate) fn new(watched: bool) -> Self {
        let marks = if watched { WATCHED } else { 0 };
        Self {
            marks,
            first: std::array::from_fn(|_| PointState::new(marks)),
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

    #[inline(never)]
    fn later(&self, index: usize) -> &PointState {
        let chunk = self.later[index / CHUNK]
            .get_or_init(|| Box::new(std::array::from_fn(|_| PointState::new(self.marks))));
        &chunk[index % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::{CHUNK, LATER_CHUNKS, Listening, Table};

    #[test]
    fn every_index_has_a_place_of_its_own() {
        let table = Table::new(false);
        for index in [0, CHUNK - 1, CHUNK, CHUNK * 2, CHUNK * (LATER_CHUNKS + 1) - 1] {
            assert!(!table.get(index).has_handlers(), "{index}");
            table.get(index).set_len(1);
            assert!(table.get(index).has_handlers(), "{index}");
        }
    }

    #[test]
    fn the_length_and_the_marks_do_not_disturb_each_other() {
        let table = Table::new(false);
        let state = table.get(7);
        assert!(!state.has_handlers());
        assert!(!state.was_fired());
        state.set_len(3);
        assert_eq!(state.listening(), None);
        assert_eq!(state.fire(|| Err("refused")), Err("refused"));
        assert!(!state.was_fired());
        assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(Listening::Somebody));
        assert!(state.was_fired());
        assert_eq!(state.listening(), Some(Listening::Somebody));
        state.set_len(0);
        assert!(state.was_fired());
        assert_eq!(state.listening(), Some(Listening::Nobody));
        assert_eq!(state.fire(|| Err("not asked again")), Ok(Listening::Nobody));
    }

    #[test]
    fn a_watched_fire_always_has_something_to_do() {
        let table = Table::new(true);
        for index in [7, CHUNK] {
            let state = table.get(index);
            assert!(!state.was_fired());
            assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(Listening::Watched));
            assert_eq!(state.listening(), None);
            assert!(!state.has_handlers());
            state.set_len(2);
            assert!(state.has_handlers());
            assert_eq!(state.fire(|| Err("not asked again")), Ok(Listening::Watched));
        }
    }
}
