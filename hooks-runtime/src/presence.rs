//! Whether a handler may start, and how many calls of it are under way.
//!
//! Both live in one atomic word, so "is it closed?" and "count me in" are one
//! operation: a call that was counted before the word was closed is waited
//! for, and one that comes later does not start. With two words there would
//! be a moment in which each side misses the other.

use crate::sync::atomic::{AtomicU64, Ordering};

const CLOSED: u64 = 1 << 63;
/// Whether more is to be done for a call than to make it: it is counted, or it
/// has a limit.
const CAREFUL: u64 = 1 << 62;
const MARKS: u64 = CLOSED | CAREFUL;

#[derive(Debug)]
pub(crate) struct Presence(AtomicU64);

impl Presence {
    pub(crate) fn new(careful: bool) -> Self {
        Self(AtomicU64::new(if careful { CAREFUL } else { 0 }))
    }

    /// Whether a call may just be made.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Counts a call in, unless closed.
    #[inline]
    pub(crate) fn enter(&self) -> Entrance {
        // Acquire: a call that starts sees everything published before it.
        if self.0.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
            Entrance::Open
        } else if self.exit() {
            Entrance::ClosedAndIdle
        } else {
            Entrance::Closed
        }
    }

    /// Counts a call out. True when it was the last one of a closed handler.
    #[inline]
    pub(crate) fn exit(&self) -> bool {
        // Release pairs with the acquire in `running`: who sees the count fall
        // sees everything the call did.
        self.0.fetch_sub(1, Ordering::Release) & !CAREFUL == CLOSED | 1
    }

    /// Lets no further call start.
    pub(crate) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::AcqRel);
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.0.load(Ordering::Acquire) & CLOSED != 0
    }

    /// How many calls are under way.
    pub(crate) fn running(&self) -> u64 {
        self.0.load(Ordering::Acquire) & !MARKS
    }
}

/// What `enter` found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    Open,
    Closed,
    /// Closed, and this very attempt was the last to leave: tell the waiters.
    ClosedAndIdle,
}
