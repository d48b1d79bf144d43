//! Counting calls at the cost of one step a walk.

use crate::list::Slot;
use crate::point::HookPoint;

/// Counts the calls of a walk over a chunk: how far it came, once, also when
/// the fire is dropped.
pub(crate) struct Tally<'l, P: HookPoint> {
    reached: Option<&'l Slot<P>>,
}

impl<'l, P: HookPoint> Tally<'l, P> {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { reached: None }
    }

    #[inline]
    pub(crate) fn called(&mut self, slot: &'l Slot<P>) {
        self.reached = Some(slot);
    }

    /// The walk came by without a call, so the call it will count is taken
    /// back.
    #[cold]
    pub(crate) fn passed_over(&mut self, slot: &'l Slot<P>) {
        self.reached = Some(slot);
        slot.entry.counters.uncount_call();
    }
}

impl<P: HookPoint> Drop for Tally<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some(slot) = self.reached {
            slot.count_end_of_walk();
        }
    }
}
