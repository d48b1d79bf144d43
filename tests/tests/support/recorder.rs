//! A recorder of the `metrics` facade that writes down what is counted.

use std::sync::{Arc, Mutex};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, SharedString, Unit,
};

type Lines = Arc<Mutex<Vec<String>>>;

/// Writes down what is counted.
#[derive(Clone, Debug, Default)]
pub struct Counts(Lines);

struct Line(String, Lines);

impl Counts {
    /// What was counted so far, in order.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn line(&self, key: &Key) -> Arc<Line> {
        let labels: Vec<_> =
            key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Line(format!("{} {}", key.name(), labels.join(" ")), Arc::clone(&self.0)))
    }
}

impl CounterFn for Line {
    fn increment(&self, value: u64) {
        self.1.lock().unwrap().push(format!("{} +{value}", self.0));
    }
    fn absolute(&self, _: u64) {}
}

impl GaugeFn for Line {
    fn increment(&self, value: f64) {
        self.1.lock().unwrap().push(format!("{} +{value}", self.0));
    }
    fn decrement(&self, value: f64) {
        self.1.lock().unwrap().push(format!("{} -{value}", self.0));
    }
    fn set(&self, _: f64) {}
}

impl HistogramFn for Line {
    fn record(&self, _: f64) {
        self.1.lock().unwrap().push(format!("{} timed", self.0));
    }
}

impl metrics::Recorder for Counts {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &metrics::Metadata<'_>) -> Counter {
        Counter::from_arc(self.line(key))
    }
    fn register_gauge(&self, key: &Key, _: &metrics::Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.line(key))
    }
    fn register_histogram(&self, key: &Key, _: &metrics::Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.line(key))
    }
}
