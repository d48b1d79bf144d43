//! What a registry knows of one point, in one atomic word.
//!
//! Whether anybody listens and whether the point was ever fired are asked
//! together by most fires, so they are read together.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// What a fire reads before anything else.
#[derive(Debug)]
pub(crate) struct PointState {
    /// The number of handlers, times four, and the marks below.
    word: AtomicUsize,
}

/// The marks of a point that nothing happened to.
pub(crate) const NO_MARKS: usize = 0;
/// The point was fired.
const FIRED: usize = 0b01;
/// Somebody wants to be told of every fire.
pub(crate) const WATCHED: usize = 0b10;
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
    pub(crate) fn new(marks: usize) -> Self {
        Self { word: AtomicUsize::new(marks) }
    }

    /// Whether a fire has nothing to do: all that most fires ever ask.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Acquire) == FIRED
    }

    /// Whether a fire has handlers to call, and nothing else to do.
    #[inline]
    pub(crate) fn is_heard(&self) -> bool {
        let word = self.word.load(Ordering::Acquire);
        word & MARKS == FIRED && word >= ONE_HANDLER
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

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::{Listening, NO_MARKS, PointState, WATCHED};

    #[test]
    fn the_length_and_the_marks_do_not_disturb_each_other() {
        let state = PointState::new(NO_MARKS);
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
        let state = PointState::new(WATCHED);
        assert!(!state.was_fired());
        assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(Listening::Watched));
        assert_eq!(state.listening(), None);
        assert!(!state.has_handlers());
        state.set_len(2);
        assert!(state.has_handlers());
        assert_eq!(state.fire(|| Err("not asked again")), Ok(Listening::Watched));
    }
}
