//! Counting calls at the cost of one step a walk.

use crate::list::Slot;
use crate::point::HookPoint;

/// Counts the calls of a walk over a chunk.
///
/// While everybody is called in turn it only remembers how far the walk came
/// and counts that once, also when the fire is dropped. From the first handler
/// that is passed over it counts each call on its own.
pub(crate) struct Tally<'l, P: HookPoint> {
    whole: bool,
    reached: Option<&'l Slot<P>>,
}

impl<'l, P: HookPoint> Tally<'l, P> {
    #[inline]
    pub(crate) fn new(whole: bool) -> Self {
        Self { whole, reached: None }
    }

    #[inline]
    pub(crate) fn called(&mut self, slot: &'l Slot<P>) {
        if self.whole {
            self.reached = Some(slot);
        } else {
            slot.entry.counters.add_calls(1);
        }
    }

    #[cold]
    pub(crate) fn passed_over(&mut self) {
        self.count();
        self.whole = false;
    }

    #[inline]
    fn count(&mut self) {
        if let Some(slot) = self.reached.take() {
            slot.count_end_of_walk();
        }
    }
}

impl<P: HookPoint> Drop for Tally<'_, P> {
    #[inline]
    fn drop(&mut self) {
        self.count();
    }
}
