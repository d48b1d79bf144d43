//! Counts that threads write to in shards of their own.
//!
//! A thread that has a shard writes to it alone, so that a step needs no locked
//! instruction; threads without one share one more. What is counted on one thread
//! may be taken back on another, so a single shard says nothing: only the sum does.

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::statics;

/// More shards than this are not worth their memory. A model checker would look
/// at each, and has few threads.
const MOST: usize = if cfg!(schedules) { 2 } else { 8 };

/// How many threads have a shard of their own: as many as can run at once,
/// within reason.
pub(crate) fn own_shards() -> usize {
    static SHARDS: statics::OnceLock<usize> = statics::OnceLock::new();
    *SHARDS.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        threads.min(MOST)
    })
}

/// How many of something there are.
#[derive(Debug)]
pub(crate) struct ShardedCount {
    /// Each wraps: so does the sum, which is right again.
    own: [AtomicU32; MOST],
    shared: AtomicU32,
}

impl ShardedCount {
    pub(crate) fn new() -> Self {
        Self { own: std::array::from_fn(|_| AtomicU32::new(0)), shared: AtomicU32::new(0) }
    }

    #[inline]
    pub(crate) fn increment(&self, shard: usize) {
        self.add(shard, 1);
    }

    #[inline]
    pub(crate) fn decrement(&self, shard: usize) {
        self.add(shard, u32::MAX);
    }

    #[inline]
    fn add(&self, shard: usize, step: u32) {
        // Release: what is counted as over is over for those who see the count.
        match self.own.get(shard) {
            Some(own) => {
                let count = own.load(Ordering::Relaxed).wrapping_add(step);
                own.store(count, Ordering::Release);
            }
            None => {
                self.shared.fetch_add(step, Ordering::AcqRel);
            }
        }
    }

    /// How many there are, or were a moment ago. What is counted on one thread and taken
    /// back on another meanwhile may be seen as taken back only: then there is one less,
    /// and never less than none.
    pub(crate) fn estimate(&self) -> u64 {
        // The sum wraps as the shards do: as a signed number it is the difference.
        u64::try_from(self.sum().cast_signed()).unwrap_or(0)
    }

    /// Whether there are none. Exact where all increments are visible to this
    /// thread: then only what has ended can be missing.
    pub(crate) fn is_zero(&self) -> bool {
        self.sum() == 0
    }

    fn sum(&self) -> u32 {
        let shards = self.own.iter().chain([&self.shared]);
        shards.fold(0_u32, |sum, shard| sum.wrapping_add(shard.load(Ordering::Acquire)))
    }
}

#[cfg(all(test, not(schedules)))]
mod tests {
    use super::{MOST, ShardedCount};

    #[test]
    fn what_is_counted_here_and_taken_back_there_adds_up_and_is_never_below_none() {
        let count = ShardedCount::new();
        // Seen before the step that it takes back.
        count.decrement(0);
        assert_eq!((count.estimate(), count.is_zero()), (0, false));
        count.increment(MOST);
        assert_eq!((count.estimate(), count.is_zero()), (0, true));
        for shard in 0..MOST + 3 {
            count.increment(shard);
        }
        count.decrement(1);
        assert_eq!(count.estimate(), MOST as u64 + 2);
    }
}
