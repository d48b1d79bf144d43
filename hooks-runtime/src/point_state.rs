//! What a registry knows of one point, in one atomic word.
//!
//! Whether anybody listens and whether the point was ever fired are asked
//! together by most fires, so they are read together.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// What a fire reads before anything else.
#[derive(Debug, Default)]
pub(crate) struct PointState {
    /// The number of handlers, times two, plus one once the point was fired.
    word: AtomicUsize,
}

const FIRED: usize = 1;
const ONE_HANDLER: usize = 2;

impl PointState {
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

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::PointState;

    #[test]
    fn the_length_and_the_mark_do_not_disturb_each_other() {
        let state = PointState::default();
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
