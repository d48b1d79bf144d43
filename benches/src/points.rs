//! The points that are measured, and the work of their handlers.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

hooks_runtime::hook_points! {
    /// Void.
    pub void Tell { n: u64 }
    /// Claiming; nobody claims.
    pub claiming Ask { n: u64 } -> u64;
    /// Modifying; nobody has anything to add.
    pub modifying Amend { n: u64 } -> { first: String, second: String, third: String }
}

static SEEN: AtomicU64 = AtomicU64::new(0);

/// What every handler and every baseline does.
pub(crate) fn work(n: u64) {
    SEEN.store(black_box(n), Ordering::Relaxed);
}
