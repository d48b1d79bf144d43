//! A trace adds two lines to the log, and changes none. In a program of its own: `tracing`
//! caches whether any subscriber wants an event, which tests beside it would change.

mod support;

use std::fmt;
use std::time::Duration;

use hooks_runtime::operator::{TraceFilter, TraceLimit};
use hooks_runtime::{FireError, HookRegistry, hook_points, on};
use support::Log;

hook_points! {
    #[hook(on_failure = "closed")]
    pub void Strict(u32);
}

const LIMIT: TraceLimit = TraceLimit::Count(100);

/// Which fields each event has.
struct Fields(Log);

#[derive(Default)]
struct Names(String);

impl tracing::field::Visit for Names {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn fmt::Debug) {
        self.0 += field.name();
        if field.name() == "message" {
            self.0 += &format!("={value:?}");
        }
        self.0 += " ";
    }
}

impl tracing::Subscriber for Fields {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("hooks_runtime")
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut names = Names::default();
        event.record(&mut names);
        self.0.push(names.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn l20_a_trace_changes_no_line_of_the_log_and_no_error() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let timed = on::<Strict>().name("timed").timeout(Duration::from_secs(9));
    hooks
        .register([
            on::<Strict>().name("plain").handler(|_: &u32| Err("no ink")),
            timed.handler(|_: &u32| Err("no time")),
        ])
        .unwrap();
    let _events = tracing::subscriber::set_default(Fields(log.clone()));
    let plain = hooks.fire_void::<Strict>(&1).await.unwrap_err();
    let lines = log.take();
    assert_eq!(lines.len(), 2);
    let trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    assert_eq!(log.take().len(), 1);
    let traced = hooks.fire_void::<Strict>(&1).await.unwrap_err();
    assert_eq!(log.take(), lines);
    let elapsed = |error: &FireError| error.failure().unwrap().elapsed().is_some();
    assert_eq!(elapsed(&traced), elapsed(&plain));
    drop(trace);
    assert_eq!(log.take().len(), 1);
}
