//! Counting what the current thread allocates.
//!
//! The counters are the thread's own and plain, so that counting costs those
//! who allocate next to nothing in the times that are compared.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What this thread has asked for so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// How often.
    pub(crate) calls: u64,
    /// Bytes asked for and not given back.
    pub(crate) live: i64,
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { calls: 0, live: 0 }) };
}

/// The counts of this thread.
pub(crate) fn tally() -> Tally {
    TALLY.get()
}

#[inline]
fn count(calls: u64, bytes: i64) {
    // A thread that is ending has no tally any more, and nothing that asks.
    let _ = TALLY.try_with(|tally| {
        let Tally { calls: before, live } = tally.get();
        tally.set(Tally { calls: before + calls, live: live + bytes });
    });
}

#[inline]
fn bytes(size: usize) -> i64 {
    i64::try_from(size).expect("no block is larger than half the address space")
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, bytes(layout.size()));
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -bytes(layout.size()));
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, bytes(size) - bytes(layout.size()));
        // SAFETY: passed on.
        unsafe { System.realloc(block, layout, size) }
    }
}
