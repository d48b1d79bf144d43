//! What a registry knows of one point, and what that leaves a fire to do.
//!
//! Whether there are handlers and whether the point was ever fired are asked
//! together by most fires, so they are one atomic word.

use crate::sync::atomic::{AtomicUsize, Ordering};

/// What a registry knows of one point.
#[derive(Debug)]
pub(crate) struct PointState {
    /// The number of handlers, times four, and the marks below.
    word: AtomicUsize,
}

/// The marks of a point that nothing happened to.
pub(crate) const NO_MARKS: usize = 0;
/// The point was fired.
const FIRED: usize = 0b01;
/// Every fire is observed.
pub(crate) const OBSERVED: usize = 0b10;
const MARKS: usize = FIRED | OBSERVED;
const ONE_HANDLER: usize = 0b100;

/// What a fire has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// Nothing: there are no handlers.
    Quiet,
    /// To call the handlers.
    Handlers,
    /// To call the handlers, if there are any, and to report that.
    Observed,
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

    /// Whether a fire has only to call the handlers, if there are any.
    #[inline]
    pub(crate) fn calls_handlers(&self) -> bool {
        self.word.load(Ordering::Acquire) & MARKS == FIRED
    }

    /// What a fire has to do; `None` at the first fire of the point, or where
    /// fires are observed.
    #[inline]
    pub(crate) fn interest(&self) -> Option<Interest> {
        // Acquire pairs with the release in `set_len`: a thread that sees the
        // length also sees the list that was published before it.
        match self.word.load(Ordering::Acquire) {
            FIRED => Some(Interest::Quiet),
            word if word & MARKS == FIRED => Some(Interest::Handlers),
            _ => None,
        }
    }

    /// What a fire has to do. The first fire of a point first does `begin`,
    /// and counts as one only if that succeeds.
    pub(crate) fn fire<E>(&self, begin: impl FnOnce() -> Result<(), E>) -> Result<Interest, E> {
        let mut word = self.word.load(Ordering::Acquire);
        if word & FIRED == 0 {
            begin()?;
            // What it began may have been marked as observed meanwhile.
            word = self.word.fetch_or(FIRED, Ordering::AcqRel);
        }
        Ok(match word {
            _ if word & OBSERVED != 0 => Interest::Observed,
            ONE_HANDLER.. => Interest::Handlers,
            _ => Interest::Quiet,
        })
    }

    /// Sets whether every fire is observed, from now on.
    pub(crate) fn set_observed(&self, observed: bool) {
        if observed {
            self.word.fetch_or(OBSERVED, Ordering::Release);
        } else {
            self.word.fetch_and(!OBSERVED, Ordering::Release);
        }
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
    use super::{Interest, NO_MARKS, OBSERVED, PointState};

    #[test]
    fn the_length_and_the_marks_do_not_disturb_each_other() {
        let state = PointState::new(NO_MARKS);
        assert!(!state.has_handlers());
        assert!(!state.was_fired());
        state.set_len(3);
        assert_eq!(state.interest(), None);
        assert_eq!(state.fire(|| Err("refused")), Err("refused"));
        assert!(!state.was_fired());
        assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(Interest::Handlers));
        assert!(state.was_fired());
        assert_eq!(state.interest(), Some(Interest::Handlers));
        state.set_len(0);
        assert!(state.was_fired());
        assert_eq!(state.interest(), Some(Interest::Quiet));
        assert_eq!(state.fire(|| Err("not asked again")), Ok(Interest::Quiet));
    }

    #[test]
    fn a_point_is_observed_from_one_fire_to_another() {
        let state = PointState::new(NO_MARKS);
        state.set_len(1);
        // Already the first fire, if that begins with it.
        let observed = state.fire(|| {
            state.set_observed(true);
            Ok::<_, ()>(())
        });
        assert_eq!(observed, Ok(Interest::Observed));
        assert!(!state.calls_handlers());
        state.set_observed(false);
        assert_eq!(state.interest(), Some(Interest::Handlers));
        assert!(state.calls_handlers());
    }

    #[test]
    fn an_observed_fire_always_has_something_to_do() {
        let state = PointState::new(OBSERVED);
        assert!(!state.was_fired());
        assert_eq!(state.fire(|| Ok::<_, ()>(())), Ok(Interest::Observed));
        assert_eq!(state.interest(), None);
        assert!(!state.has_handlers());
        state.set_len(2);
        assert!(state.has_handlers());
        assert_eq!(state.fire(|| Err("not asked again")), Ok(Interest::Observed));
    }
}
