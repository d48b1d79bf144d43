//! How many fires walked how far along a chunk of handlers.
//!
//! Counting where a walk ends costs one step a chunk, not one a handler: a
//! handler was called by every walk that ended at or after it. As many
//! threads as can run at once count in lanes of their own, where nobody else
//! writes and a step needs no lock of the bus; the others share one more.

use std::cell::Cell;

use crate::sync::atomic::{AtomicI64, Ordering};
use crate::sync::{statics, thread_local};

/// More lanes than this are not worth their memory.
const MOST_LANES: usize = 8;

/// The counters in one cache line.
const LINE: usize = 8;

/// For each place of a chunk, how many walks ended there.
#[derive(Debug)]
pub(crate) struct Walks {
    /// One run of lines for each lane. Signed: a walk that waits may be counted
    /// on one thread and go on on another.
    ended: Box<[AtomicI64]>,
    /// The length of a lane.
    places: usize,
    /// The last lane, which threads without one of their own share.
    shared: usize,
}

impl Walks {
    pub(crate) fn new(places: usize) -> Self {
        let (places, shared) = (places.next_multiple_of(LINE), own_lanes());
        let ended = (0..places * (shared + 1)).map(|_| AtomicI64::new(0)).collect();
        Self { ended, places, shared }
    }

    #[inline]
    pub(crate) fn count(&self, place: usize) {
        self.add(place, 1);
    }

    pub(crate) fn uncount(&self, place: usize) {
        self.add(place, -1);
    }

    /// How many walks ended at that place.
    pub(crate) fn ended_at(&self, place: usize) -> u64 {
        let counts = (0..=self.shared).map(|lane| &self.ended[lane * self.places + place]);
        let sum: i64 = counts.map(|count| count.load(Ordering::Relaxed)).sum();
        // A walk that goes on just now may be seen to leave and not yet to come.
        u64::try_from(sum).unwrap_or(0)
    }

    #[inline]
    fn add(&self, place: usize, step: i64) {
        // A closure of its own is compiled where it is used, and so inlined.
        #[allow(clippy::redundant_closure_for_method_calls)]
        let lane = LANE.with(|lane| lane.get());
        if lane < self.shared {
            let count = &self.ended[lane * self.places + place];
            count.store(count.load(Ordering::Relaxed) + step, Ordering::Relaxed);
        } else {
            self.add_shared(place, step);
        }
    }

    /// Counts on a thread that has no lane, or does not know it yet.
    #[inline(never)]
    fn add_shared(&self, place: usize, step: i64) {
        if LANE.with(Cell::get) == UNKNOWN {
            lanes::take();
            self.add(place, step);
        } else {
            let count = &self.ended[self.shared * self.places + place];
            count.fetch_add(step, Ordering::Relaxed);
        }
    }
}

/// A thread that did not count yet.
const UNKNOWN: usize = usize::MAX;
/// A thread without a lane of its own.
const NONE: usize = usize::MAX - 1;

thread_local! {
    static LANE: Cell<usize> = const { Cell::new(UNKNOWN) };
}

/// How many threads have a lane of their own: as many as can run at once,
/// within reason.
fn own_lanes() -> usize {
    static LANES: statics::OnceLock<usize> = statics::OnceLock::new();
    *LANES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        threads.min(MOST_LANES)
    })
}

/// Who has which lane. A thread gives its own back when it ends.
mod lanes {
    use std::cell::Cell;
    use std::sync::PoisonError;

    use super::{LANE, NONE, own_lanes};
    use crate::sync::statics::Mutex;
    use crate::sync::thread_local;

    /// The lanes that nobody has; all of them until the first is taken.
    static FREE: Mutex<Option<Vec<usize>>> = Mutex::new(None);

    thread_local! {
        static OWNED: Owned = const { Owned(Cell::new(None)) };
    }

    /// Gives this thread a lane, if there is one left.
    #[cold]
    pub(super) fn take() {
        // A thread that is ending takes none: nobody would give it back.
        let taken = OWNED.try_with(|Owned(lane)| {
            lane.set(free(Vec::pop));
            lane.get()
        });
        LANE.with(|mine| mine.set(taken.ok().flatten().unwrap_or(NONE)));
    }

    fn free<T>(change: impl FnOnce(&mut Vec<usize>) -> T) -> T {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        change(free.get_or_insert_with(|| (0..own_lanes()).rev().collect()))
    }

    /// The lane of a thread.
    struct Owned(Cell<Option<usize>>);

    impl Drop for Owned {
        fn drop(&mut self) {
            if let Some(lane) = self.0.take() {
                // What the thread still counts in other destructors is shared.
                let _ = LANE.try_with(|mine| mine.set(NONE));
                free(|lanes| lanes.push(lane));
            }
        }
    }
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::Walks;

    #[test]
    fn counts_of_all_threads_add_up() {
        let walks = Walks::new(3);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    walks.count(2);
                    walks.count(0);
                });
            }
        });
        walks.uncount(0);
        assert_eq!([0, 1, 2].map(|place| walks.ended_at(place)), [15, 0, 16]);
    }
}
