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

    /// Whether there are none. Exact where all increments are visible to this
    /// thread: then only what has ended can be missing.
    pub(crate) fn is_zero(&self) -> bool {
        let shards = self.own.iter().chain([&self.shared]);
        shards.fold(0_u32, |sum, shard| sum.wrapping_add(shard.load(Ordering::Acquire))) == 0
    }
}
