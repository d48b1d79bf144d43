//! How long calls took: counts in fixed buckets.

use std::fmt;
use std::time::Duration;

use crate::sync::atomic::{AtomicU64, Ordering};

/// Shorter times than this power of two, in nanoseconds, share the first bucket: about
/// a microsecond.
const SHORTEST: u32 = 10;
/// Times of this power of two and more share the last bucket: about 69 seconds.
const LONGEST: u32 = 36;
/// How many buckets a power of two has, as a power of two.
const PARTS: u32 = 2;
/// How many buckets there are.
const BUCKETS: usize = (((LONGEST - SHORTEST) << PARTS) + 2) as usize;

/// How often which time was taken: counts in 106 fixed buckets.
///
/// The buckets are four for each power of two from 1.024 µs to 68.7 s, with one for all
/// that is shorter and one for all that is longer. A quantile is the middle of its bucket,
/// so within those bounds it is off by at most one eighth (12.5 %); below it is off by at
/// most 0.6 µs, and above it is the longest time of all. `count`, `sum` and `max` are
/// exact. All histograms have the same buckets, so any two can be merged.
///
/// With the feature `serde` it serialises with the buckets that are not empty.
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::observe::Histogram;
///
/// let mut times = Histogram::new();
/// for millis in 1..=100 {
///     times.record(Duration::from_millis(millis));
/// }
/// assert_eq!((times.count(), times.max()), (100, Duration::from_millis(100)));
/// assert_eq!(times.sum(), Duration::from_millis(5050));
/// let p90 = times.quantile(0.9).as_secs_f64();
/// assert!((p90 / 0.090 - 1.0).abs() <= 0.125);
///
/// let mut all = times.clone();
/// all.merge(&times);
/// assert_eq!((all.count(), all.quantile(0.9)), (200, times.quantile(0.9)));
/// let filled = all.buckets().filter(|bucket| bucket.count > 0);
/// assert_eq!(filled.map(|bucket| bucket.count).sum::<u64>(), 200);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
    sum: Duration,
    max: Duration,
}

/// A bucket of a [`Histogram`].
///
/// ```
/// use std::time::Duration;
/// use hooks_runtime::observe::Histogram;
///
/// let mut times = Histogram::new();
/// times.record(Duration::from_nanos(1100));
/// let bucket = times.buckets().nth(1).unwrap();
/// assert_eq!((bucket.from, bucket.count), (Duration::from_nanos(1024), 1));
/// assert_eq!(bucket.below, Some(Duration::from_nanos(1280)));
/// assert_eq!(times.buckets().last().unwrap().below, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct HistogramBucket {
    /// The shortest time that it counts.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "from_ns", serialize_with = "crate::wire::whole_nanoseconds")
    )]
    pub from: Duration,
    /// It counts times that are shorter than this; `None` for the last one.
    #[cfg_attr(
        feature = "serde",
        serde(rename = "below_ns", serialize_with = "crate::wire::nanoseconds")
    )]
    pub below: Option<Duration>,
    /// How many times it has counted.
    pub count: u64,
}

impl Histogram {
    /// An empty one.
    pub fn new() -> Self {
        Self { counts: Box::new([0; BUCKETS]), sum: Duration::ZERO, max: Duration::ZERO }
    }

    /// Counts a time.
    pub fn record(&mut self, time: Duration) {
        self.counts[bucket(nanoseconds(time))] += 1;
        self.sum = self.sum.saturating_add(time);
        self.max = self.max.max(time);
    }

    /// How many times were counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All times together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// The longest time; zero where none was counted.
    pub fn max(&self) -> Duration {
        self.max
    }

    /// The time that this part of all, from 0 to 1, does not exceed: `0.5` is the median.
    /// Off by at most one eighth between 1.024 µs and 68.7 s; zero where no time was
    /// counted. What is not from 0 to 1 is moved to the nearer end.
    pub fn quantile(&self, part: f64) -> Duration {
        let count = self.count();
        let rank = rank(part, count);
        // Also where there is none at all.
        if rank >= count {
            return self.max;
        }
        let mut seen = 0;
        let reaches = |bucket: &HistogramBucket| {
            seen += bucket.count;
            seen >= rank
        };
        match self.buckets().find(reaches) {
            Some(HistogramBucket { from, below: Some(below), .. }) => {
                ((from + below) / 2).min(self.max)
            }
            _ => self.max,
        }
    }

    /// All buckets, from the shortest times to the longest, also those that are empty.
    pub fn buckets(&self) -> impl Iterator<Item = HistogramBucket> {
        self.counts.iter().enumerate().map(|(place, count)| HistogramBucket {
            from: Duration::from_nanos(start(place)),
            below: (place + 1 < BUCKETS).then(|| Duration::from_nanos(start(place + 1))),
            count: *count,
        })
    }

    /// Adds what another has counted.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&*other.counts) {
            *count += more;
        }
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("sum", &self.sum)
            .field("max", &self.max)
            .field("median", &self.quantile(0.5))
            .field("p99", &self.quantile(0.99))
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use crate::wire::Nanoseconds;
        use serde::ser::SerializeMap as _;

        let filled: Vec<_> = self.buckets().filter(|bucket| bucket.count > 0).collect();
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("count", &self.count())?;
        map.serialize_entry("sum_ns", &Nanoseconds(self.sum))?;
        map.serialize_entry("max_ns", &Nanoseconds(self.max))?;
        map.serialize_entry("buckets", &filled)?;
        map.end()
    }
}

/// A histogram that many threads count in at once, without a lock.
#[derive(Debug)]
pub(super) struct AtomicHistogram {
    counts: Box<[AtomicU64]>,
    /// In nanoseconds, as is the next: enough for 584 years.
    sum: AtomicU64,
    max: AtomicU64,
}

impl AtomicHistogram {
    pub(super) fn new() -> Self {
        let counts = (0..BUCKETS).map(|_| AtomicU64::new(0)).collect();
        Self { counts, sum: AtomicU64::new(0), max: AtomicU64::new(0) }
    }

    pub(super) fn record(&self, time: Duration) {
        let time = nanoseconds(time);
        self.max.fetch_max(time, Ordering::Relaxed);
        self.sum.fetch_add(time, Ordering::Relaxed);
        // Release, and last: who sees the count sees a maximum that is no less.
        self.counts[bucket(time)].fetch_add(1, Ordering::Release);
    }

    pub(super) fn load(&self) -> Histogram {
        let mut histogram = Histogram::new();
        for (count, counted) in histogram.counts.iter_mut().zip(&self.counts) {
            *count = counted.load(Ordering::Acquire);
        }
        histogram.sum = Duration::from_nanos(self.sum.load(Ordering::Relaxed));
        histogram.max = Duration::from_nanos(self.max.load(Ordering::Relaxed));
        histogram
    }
}

/// Which of so many, in order and from one, has this part of them up to it.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank among more than 2^52 times need not be exact, and the cast keeps to its range"
)]
fn rank(part: f64, count: u64) -> u64 {
    ((part * count as f64).ceil() as u64).clamp(1.min(count), count)
}

/// Which bucket counts a time of so many nanoseconds.
fn bucket(time: u64) -> usize {
    match time.checked_ilog2() {
        Some(power) if power >= LONGEST => BUCKETS - 1,
        Some(power) if power >= SHORTEST => {
            // The bits after the highest say which part of its power of two it is in.
            let part = (time >> (power - PARTS)) & ((1 << PARTS) - 1);
            1 + ((power - SHORTEST) << PARTS) as usize + usize::try_from(part).unwrap_or(0)
        }
        _ => 0,
    }
}

/// The shortest time of a bucket, in nanoseconds.
fn start(bucket: usize) -> u64 {
    let Some(place) = bucket.checked_sub(1) else { return 0 };
    let (place, parts) = (place as u64, 1 << PARTS);
    (parts + place % parts) << (u64::from(SHORTEST - PARTS) + place / parts)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
