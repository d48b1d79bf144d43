//! How many fires walked how far along a chunk of handlers.
//!
//! Counting where a walk ends costs one step a chunk, not one a handler: a
//! handler was called by every walk that ended at or after it. Threads count in
//! lanes of their own, so that two of them firing one point do not wait for
//! each other.

use crate::sync::atomic::{AtomicI64, Ordering};
use crate::sync::{statics, thread_local};
use std::cell::Cell;

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
    places: usize,
    lanes: usize,
}

impl Walks {
    pub(crate) fn new(places: usize) -> Self {
        let (places, lanes) = (places.next_multiple_of(LINE), lanes());
        let ended = (0..places * lanes).map(|_| AtomicI64::new(0)).collect();
        Self { ended, places, lanes }
    }

    #[inline]
    pub(crate) fn count(&self, place: usize) {
        self.here(place).fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uncount(&self, place: usize) {
        self.here(place).fetch_sub(1, Ordering::Relaxed);
    }

    /// How many walks ended at that place.
    pub(crate) fn ended_at(&self, place: usize) -> u64 {
        let counts = (0..self.lanes).map(|lane| &self.ended[lane * self.places + place]);
        let sum: i64 = counts.map(|count| count.load(Ordering::Relaxed)).sum();
        // A walk that goes on just now may be seen to leave and not yet to come.
        u64::try_from(sum).unwrap_or(0)
    }

    #[inline]
    fn here(&self, place: usize) -> &AtomicI64 {
        // The number of lanes is a power of two.
        let lane = LANE.with(Cell::get).unwrap_or_else(draw_lane) & (self.lanes - 1);
        &self.ended[lane * self.places + place]
    }
}

thread_local! {
    static LANE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Gives this thread its lane: each new thread the next one.
#[cold]
fn draw_lane() -> usize {
    static NEXT: statics::AtomicUsize = statics::AtomicUsize::new(0);
    let lane = NEXT.fetch_add(1, Ordering::Relaxed);
    LANE.with(|mine| mine.set(Some(lane)));
    lane
}

/// As many lanes as threads can run at once, within reason.
fn lanes() -> usize {
    static LANES: statics::OnceLock<usize> = statics::OnceLock::new();
    *LANES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        threads.next_power_of_two().min(MOST_LANES)
    })
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
