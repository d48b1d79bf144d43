//! The histogram of the observer `Statistics`: its buckets, its quantiles and their
//! error (L22).

use std::time::Duration;

use hooks_runtime::observe::{Histogram, HistogramBucket};
use proptest::prelude::*;

const NANOS: fn(u64) -> Duration = Duration::from_nanos;
/// Where the first bucket ends, and where the last begins.
const LOWEST: u64 = 1 << 10;
const HIGHEST: u64 = 1 << 36;

fn of(times: impl IntoIterator<Item = u64>) -> Histogram {
    let mut histogram = Histogram::new();
    times.into_iter().for_each(|time| histogram.record(NANOS(time)));
    histogram
}

/// The one bucket that counts this time.
fn bucket(time: u64) -> HistogramBucket {
    let histogram = of([time]);
    let mut filled = histogram.buckets().filter(|bucket| bucket.count > 0);
    let found = filled.next().expect("one counts it");
    assert_eq!((found.count, filled.next()), (1, None));
    found
}

#[test]
fn l22_the_buckets_follow_each_other_four_to_a_power_of_two() {
    let buckets: Vec<_> = Histogram::new().buckets().collect();
    assert_eq!(buckets.len(), 2 + 4 * 26);
    assert_eq!((buckets[0].from, buckets[0].below), (Duration::ZERO, Some(NANOS(LOWEST))));
    let bounds: Vec<_> = buckets[1..6].iter().map(|bucket| bucket.from).collect();
    assert_eq!(bounds, [1024, 1280, 1536, 1792, 2048].map(NANOS));
    for (one, next) in buckets.iter().zip(&buckets[1..]) {
        assert_eq!(one.below, Some(next.from));
    }
    let last = buckets.last().unwrap();
    assert_eq!((last.from, last.below), (NANOS(HIGHEST), None));
}

#[test]
fn l22_each_bucket_counts_from_its_start_to_before_the_next() {
    for expected in Histogram::new().buckets() {
        let from = u64::try_from(expected.from.as_nanos()).unwrap();
        assert_eq!(bucket(from).from, expected.from);
        let last = expected.below.map_or(u64::MAX, |below| below.as_nanos() as u64 - 1);
        assert_eq!(bucket(last).from, expected.from);
    }
    let mut longest = Histogram::new();
    longest.record(Duration::MAX);
    longest.record(Duration::MAX);
    assert_eq!(longest.buckets().last().unwrap().count, 2);
    assert_eq!((longest.max(), longest.sum()), (Duration::MAX, Duration::MAX));
}

#[test]
fn l22_an_empty_histogram_is_zero() {
    let empty = Histogram::default();
    assert_eq!((empty.count(), empty.sum(), empty.max()), (0, Duration::ZERO, Duration::ZERO));
    for part in [0.0, 0.5, 1.0, f64::NAN] {
        assert_eq!(empty.quantile(part), Duration::ZERO);
    }
}

#[test]
fn l22_quantiles_are_the_middles_of_their_buckets() {
    // 1024 to 1280, 2048 to 2560, 4096 to 5120.
    let times = of([1100, 2048, 2049, 5000]);
    assert_eq!([0.0, 0.25].map(|part| times.quantile(part)), [NANOS(1152); 2]);
    assert_eq!([0.26, 0.5, 0.75].map(|part| times.quantile(part)), [NANOS(2304); 3]);
    // The last of all is the longest, exactly.
    assert_eq!([0.76, 1.0].map(|part| times.quantile(part)), [NANOS(5000); 2]);
    assert_eq!((times.quantile(-3.0), times.quantile(7.0)), (NANOS(1152), NANOS(5000)));
    assert_eq!(times.quantile(f64::NAN), NANOS(1152));
    // The middle of its bucket is longer than the longest.
    assert_eq!(of([1100; 9]).quantile(0.5), NANOS(1100));
    // Too short and too long for a bucket of their own.
    assert_eq!(of([3, 3, 9000]).quantile(0.5), NANOS(512));
    assert_eq!(of([HIGHEST, HIGHEST, HIGHEST * 3]).quantile(0.1), NANOS(HIGHEST * 3));
}

proptest! {
    #[test]
    fn l22_a_quantile_is_off_by_an_eighth_at_most(
        mut times in prop::collection::vec(
            (10_u32..36, 0.0_f64..1.0).prop_map(|(power, part)| {
                ((1_u64 << power) as f64 * (1.0 + part)) as u64
            }),
            1..200,
        ),
        part in 0.0_f64..=1.0,
    ) {
        let histogram = of(times.iter().copied());
        times.sort_unstable();
        let rank = ((part * times.len() as f64).ceil() as usize).clamp(1, times.len());
        let (exact, found) = (times[rank - 1] as f64, histogram.quantile(part).as_nanos() as f64);
        prop_assert!((found - exact).abs() <= exact / 8.0, "{found} for {exact}");
        prop_assert_eq!(histogram.count(), times.len() as u64);
        prop_assert_eq!(histogram.sum(), NANOS(times.iter().sum()));
        prop_assert_eq!(histogram.max(), NANOS(times[times.len() - 1]));
    }

    #[test]
    fn l22_merged_is_as_counted_together(
        one in prop::collection::vec(0..HIGHEST * 2, 0..50),
        other in prop::collection::vec(0..HIGHEST * 2, 0..50),
    ) {
        let mut merged = of(one.iter().copied());
        merged.merge(&of(other.iter().copied()));
        prop_assert_eq!(merged, of(one.into_iter().chain(other)));
    }
}

#[test]
fn l22_it_serialises_with_the_buckets_that_are_not_empty() {
    let json = serde_json::to_value(of([1100, 1200, HIGHEST])).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "count": 3,
            "sum_ns": 2300 + HIGHEST,
            "max_ns": HIGHEST,
            "buckets": [
                {"from_ns": 1024, "below_ns": 1280, "count": 2},
                {"from_ns": HIGHEST, "below_ns": null, "count": 1},
            ],
        }),
    );
}
