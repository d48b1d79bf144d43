//! How many walks came how far along a chunk of handlers.
//!
//! Counting where a walk ends costs one step a chunk, not one a handler: a
//! handler was called by every walk that ended at or after it. Threads count
//! in shards of their own, to which no other thread writes, so that a step needs
//! no locked instruction; threads without a shard share one more.

use crate::registry::shards::own_shards;
use crate::sync::atomic::{AtomicI64, Ordering};

/// For each place of a chunk, how many walks ended there.
#[derive(Debug)]
pub(crate) struct CallCounter {
    /// Walks along all of the chunk, as most are: one line for each shard.
    whole: Box<[Line]>,
    /// Those that ended at another place, a row for each shard, and one more row
    /// that threads without a shard of their own share. Signed: a pending walk may
    /// be counted on one thread and resumed on another.
    ended: Box<[AtomicI64]>,
    /// The length of a row.
    places: usize,
}

/// A count in a line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Line(AtomicI64);

impl CallCounter {
    pub(crate) fn new(places: usize) -> Self {
        let shards = own_shards();
        let whole = (0..shards).map(|_| Line(AtomicI64::new(0))).collect();
        // Rows do not share a line.
        let row = places.next_multiple_of(8);
        let ended = (0..row * (shards + 1)).map(|_| AtomicI64::new(0)).collect();
        Self { whole, ended, places: row }
    }

    /// Counts a walk along all of the chunk, which has so many places.
    #[inline(always)]
    #[allow(clippy::inline_always)]
    pub(crate) fn count_whole(&self, places: usize, shard: usize) {
        match self.whole.get(shard) {
            Some(Line(count)) => add_own(count, 1),
            None => self.count(places - 1, shard),
        }
    }

    /// Counts a walk that ended at that place.
    pub(crate) fn count(&self, place: usize, shard: usize) {
        self.add(place, shard, 1);
    }

    /// Takes back a walk that had ended at that place.
    pub(crate) fn uncount(&self, place: usize, shard: usize) {
        self.add(place, shard, -1);
    }

    /// How many walks ended at that place, of so many.
    pub(crate) fn ended_at(&self, place: usize, places: usize) -> u64 {
        let whole = if place + 1 == places { &*self.whole } else { &[] };
        let whole = whole.iter().map(|Line(count)| count);
        let rows = (0..=self.whole.len()).map(|row| &self.ended[row * self.places + place]);
        let sum: i64 = whole.chain(rows).map(|count| count.load(Ordering::Relaxed)).sum();
        // Of a walk that is just being resumed, the decrement may be visible before
        // the increment.
        u64::try_from(sum).unwrap_or(0)
    }

    #[inline]
    fn add(&self, place: usize, shard: usize, step: i64) {
        let own = self.whole.len();
        let count = &self.ended[shard.min(own) * self.places + place];
        if shard < own {
            add_own(count, step);
        } else {
            count.fetch_add(step, Ordering::Relaxed);
        }
    }
}

/// Adds to a count that no other thread writes to.
#[inline]
fn add_own(count: &AtomicI64, step: i64) {
    count.store(count.load(Ordering::Relaxed) + step, Ordering::Relaxed);
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::CallCounter;

    #[test]
    fn counts_of_all_shards_add_up() {
        let counter = CallCounter::new(3);
        std::thread::scope(|scope| {
            let counter = &counter;
            for shard in 0..16 {
                scope.spawn(move || {
                    counter.count_whole(3, shard);
                    counter.count(0, shard);
                });
            }
        });
        counter.uncount(0, 3);
        assert_eq!([0, 1, 2].map(|place| counter.ended_at(place, 3)), [15, 0, 16]);
    }
}
