//! The ready-made observers: spans of `tracing`, counts of `metrics` (L20).

mod support;

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use hooks_runtime::observe::{Metrics, ObservedFire, ObservedHandler, Observer, Spans};
use hooks_runtime::{HookRegistry, hook_points, on};
use support::recorder::Counts;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

hook_points! {
    /// Something was said.
    pub void Said { text: String }
}

type Lines = Arc<Mutex<Vec<String>>>;

/// Polls a fire until it is ready.
fn run<T>(fire: impl Future<Output = T>) -> T {
    let mut fire = pin!(fire);
    let mut task = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = fire.as_mut().poll(&mut task) {
            return value;
        }
    }
}

/// Pending once.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(
        |_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending },
    )
    .await;
}

/// Writes down spans and where events are.
#[derive(Default)]
struct Trace {
    lines: Lines,
    next: AtomicU64,
    entered: Mutex<Vec<u64>>,
}

#[derive(Default)]
struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push(format!("{}={value:?}", field.name()));
    }
}

impl Trace {
    fn line(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl Subscriber for Trace {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut fields = Fields::default();
        span.record(&mut fields);
        let parent = span.parent().map_or(0, Id::into_u64);
        self.line(format!("{id} in {parent}: {} {}", span.metadata().name(), fields.0.join(" ")));
        Id::from_u64(id)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.line(format!("{}: {}", span.into_u64(), fields.0.join(" ")));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let entered = self.entered.lock().unwrap().last().copied().unwrap_or(0);
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.line(format!("event in {entered}: {}", fields.0.join(" ")));
    }
    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }
    fn exit(&self, span: &Id) {
        assert_eq!(self.entered.lock().unwrap().pop(), Some(span.into_u64()));
    }
}

#[test]
fn l20_spans_hold_what_a_handler_says_across_its_awaits() {
    let trace = Trace::default();
    let lines = Arc::clone(&trace.lines);
    tracing::subscriber::with_default(trace, || {
        let hooks = HookRegistry::builder().observer(Spans::default()).build();
        let echo = on::<Said>().name("echo").plugin("acme").handler(async |p: &SaidPayload| {
            tracing::info!("before");
            yield_once().await;
            tracing::info!("after {}", p.text);
        });
        hooks.register(echo).unwrap();
        run(hooks.fire_void::<Said>(&SaidPayload { text: "hello".to_owned() })).unwrap();
    });
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "1 in 0: hook_fire point=\"said\" model=void",
            "2 in 1: hook_handler point=\"said\" handler=\"echo\" owner=plugin `acme`",
            "event in 2: message=before",
            "event in 2: message=after hello",
            "2: outcome=\"ran\"",
            "1: outcome=\"notified\"",
        ]
    );
}

#[test]
fn l20_metrics_count_fires_and_failures_and_time_both() {
    let counts = Counts::default();
    metrics::with_local_recorder(&counts, || {
        let hooks = HookRegistry::builder().observer(Metrics).build();
        run(hooks.fire_void::<Said>(&SaidPayload { text: String::new() })).unwrap();
        let fails = |_: &SaidPayload| Err::<(), _>("no paper");
        hooks.register(on::<Said>().name("print").handler(fails)).unwrap();
        run(hooks.fire_void::<Said>(&SaidPayload { text: String::new() })).unwrap();
    });
    assert_eq!(
        counts.lines(),
        [
            "hook_fires_total point=said outcome=notified +1",
            "hook_fire_seconds point=said timed",
            "hook_handler_in_flight point=said handler=print owner=built-in +1",
            "hook_handler_in_flight point=said handler=print owner=built-in -1",
            "hook_handler_failures_total point=said handler=print owner=built-in kind=error \
             policy=open +1",
            "hook_handler_seconds point=said handler=print owner=built-in timed",
            "hook_fires_total point=said outcome=notified +1",
            "hook_fire_seconds point=said timed",
        ]
    );
}

#[test]
fn l20_the_owner_of_a_metric_is_the_bare_id_of_the_plugin() {
    let counts = Counts::default();
    metrics::with_local_recorder(&counts, || {
        let hooks = HookRegistry::builder().observer(Metrics).build();
        let fails = |_: &SaidPayload| Err::<(), _>("no paper");
        // Late in every call.
        let print = on::<Said>().name("print").plugin("acme").timeout(Duration::from_nanos(1));
        hooks.register(print.handler(fails)).unwrap();
        run(hooks.fire_void::<Said>(&SaidPayload { text: String::new() })).unwrap();
    });
    let lines = counts.lines();
    let of_handlers: Vec<_> = lines.iter().filter(|line| line.contains("handler=")).collect();
    assert_eq!(
        of_handlers,
        [
            "hook_handler_in_flight point=said handler=print owner=acme +1",
            "hook_handler_overruns_total point=said handler=print owner=acme +1",
            "hook_handler_in_flight point=said handler=print owner=acme -1",
            "hook_handler_failures_total point=said handler=print owner=acme kind=error \
             policy=open +1",
            "hook_handler_seconds point=said handler=print owner=acme timed",
        ]
    );
}

/// Panics at every call and notification about a fire.
#[derive(Debug)]
struct Broken;

impl Observer for Broken {
    fn fire_started(&self, _: &ObservedFire) {
        panic!("an observer may panic");
    }
    fn logs_failures(&self) -> bool {
        panic!("an observer may panic");
    }
}

#[test]
fn l20_an_observer_that_panics_is_no_failure_of_the_fire() {
    let hooks = HookRegistry::builder().observer(Broken).build();
    let fails = |_: &SaidPayload| Err::<(), _>("no paper");
    hooks.register(on::<Said>().name("print").handler(fails)).unwrap();
    run(hooks.fire_void::<Said>(&SaidPayload { text: String::new() })).unwrap();
    assert_eq!(hooks.handlers()[0].failures, 1);
}

#[derive(Clone, Debug, Default)]
struct Comings(Lines);

impl Observer for Comings {
    fn registered(&self, handler: &ObservedHandler<'_>) {
        let (name, point, owner) = (handler.handler(), handler.point(), handler.owner());
        self.0.lock().unwrap().push(format!("{name} ({owner}) at {point}"));
    }
    fn removed(&self, handler: &ObservedHandler<'_>) {
        self.0.lock().unwrap().push(format!("{} gone", handler.handler()));
        assert!(handler.handler() != "noisy", "an observer may panic");
    }
}

#[test]
fn l20_registrations_and_removals_are_observed_and_a_panic_in_it_harms_no_other() {
    let comings = Comings::default();
    let hooks = HookRegistry::builder().observer(comings.clone()).build();
    let quiet = on::<Said>().name("quiet").handler(|_: &SaidPayload| {});
    let noisy = on::<Said>().name("noisy").plugin("acme").handler(|_: &SaidPayload| {});
    let last = on::<Said>().name("last").plugin("acme").handler(|_: &SaidPayload| {});
    let handles = hooks.register(vec![quiet, noisy, last]).unwrap();
    let again = on::<Said>().name("quiet").replace().handler(|_: &SaidPayload| {});
    hooks.register(again).unwrap();
    assert_eq!(hooks.unregister_plugin("acme").removed(), 2);
    drop(handles);
    assert_eq!(
        *comings.0.lock().unwrap(),
        [
            "quiet (built-in) at said",
            "noisy (plugin `acme`) at said",
            "last (plugin `acme`) at said",
            "quiet gone",
            "quiet (built-in) at said",
            "noisy gone",
            "last gone",
        ]
    );
}
