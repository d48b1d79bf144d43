//! A small recorder for the `metrics` facade, which renders what a Prometheus server
//! reads. A program with more metrics takes `metrics-exporter-prometheus` instead.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

/// Counters, and sums of histograms.
#[derive(Debug, Default)]
pub struct SmallRecorder {
    counters: Kept<AtomicU64>,
    summaries: Kept<Summary>,
}

/// The metrics of one kind, by name and labels.
#[derive(Debug)]
struct Kept<T>(RwLock<HashMap<Key, Arc<T>>>);

/// How often, and how much in all: a number of floating point, as its bits.
#[derive(Debug, Default)]
struct Summary {
    count: AtomicU64,
    sum: AtomicU64,
}

/// The recorder of this program. The first call makes it the one of the facade, unless
/// the program has installed another.
pub fn recorder() -> &'static SmallRecorder {
    static RECORDER: OnceLock<Arc<SmallRecorder>> = OnceLock::new();
    RECORDER.get_or_init(|| {
        let recorder = Arc::new(SmallRecorder::default());
        if metrics::set_global_recorder(Arc::clone(&recorder)).is_err() {
            eprintln!("another recorder is installed: /metrics stays empty");
        }
        recorder
    })
}

impl SmallRecorder {
    /// All metrics as text, sorted.
    pub fn render(&self) -> String {
        let mut lines = BTreeMap::<String, BTreeSet<String>>::new();
        let mut add = |kind: &str, key: &Key, suffix: &str, value: String| {
            let head = format!("# TYPE {} {kind}", key.name());
            let line = format!("{}{suffix}{} {value}", key.name(), labels(key));
            lines.entry(head).or_default().insert(line);
        };
        for (key, counter) in self.counters.all() {
            add("counter", &key, "", counter.load(Ordering::Relaxed).to_string());
        }
        for (key, summary) in self.summaries.all() {
            let sum = f64::from_bits(summary.sum.load(Ordering::Relaxed));
            add("summary", &key, "_count", summary.count.load(Ordering::Relaxed).to_string());
            add("summary", &key, "_sum", sum.to_string());
        }
        let groups = lines.into_iter().map(|(head, lines)| [head].into_iter().chain(lines));
        groups.flatten().map(|line| line + "\n").collect()
    }
}

/// `{point="route",outcome="claimed"}`.
fn labels(key: &Key) -> String {
    let labels = key.labels().map(|label| format!("{}={:?}", label.key(), label.value()));
    let labels = labels.collect::<Vec<_>>().join(",");
    if labels.is_empty() { labels } else { format!("{{{labels}}}") }
}

impl<T: Default> Kept<T> {
    /// The metric of that key. After the first time only a lock for reading is taken.
    fn get(&self, key: &Key) -> Arc<T> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        known.unwrap_or_else(|| {
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key.clone()).or_default())
        })
    }

    fn all(&self) -> Vec<(Key, Arc<T>)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(key, value)| (key.clone(), Arc::clone(value))).collect()
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl HistogramFn for Summary {
    fn record(&self, value: f64) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // It adds whatever is there, so it does not fail.
        let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

impl Recorder for SmallRecorder {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.counters.get(key))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.summaries.get(key))
    }
}
