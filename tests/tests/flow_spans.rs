//! The spans of a flow: its stages and its operation are inside the one of the
//! run (L20).

use std::fmt::Debug;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use hooks_runtime::observe::Spans;
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

hook_points! {
    /// A pot is made.
    pub flow Brew(u32) -> u32;
}

type Lines = Arc<Mutex<Vec<String>>>;

/// Pending once.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(
        |_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending },
    )
    .await;
}

/// Polls a run until it is ready.
fn run<T>(run: impl Future<Output = T>) -> T {
    let mut run = pin!(run);
    let mut task = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = run.as_mut().poll(&mut task) {
            return value;
        }
    }
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
fn l20_the_stages_and_the_operation_are_inside_the_span_of_the_run() {
    let trace = Trace::default();
    let lines = Arc::clone(&trace.lines);
    tracing::subscriber::with_default(trace, || {
        let hooks = HookRegistry::builder().observer(Spans::default()).build();
        let warm = on::<BeforeExecute<Brew>>().name("warm").handler(|_: &mut FlowContext<Brew>| {
            tracing::info!("warming");
        });
        hooks.register(warm).unwrap();
        let operation = async |litres| {
            tracing::info!("boils");
            yield_once().await;
            tracing::info!("steeps");
            Ok::<u32, std::io::Error>(litres)
        };
        let flow = hooks.flow::<Brew>().validate(|_: &u32| {
            tracing::info!("judged");
            Ok::<_, String>(())
        });
        assert_eq!(run(flow.run(1, operation)).unwrap(), 1);
    });
    assert_eq!(
        *lines.lock().unwrap(),
        [
            "1 in 0: hook_fire point=\"brew\" model=flow",
            "2 in 1: hook_fire point=\"brew/beforeValidation\" model=stage",
            "2: outcome=\"ran\"",
            "3 in 1: hook_flow_step point=\"brew\" step=\"validation\"",
            "event in 3: message=judged",
            "3: outcome=\"ran\"",
            "4 in 1: hook_fire point=\"brew/afterValidation\" model=stage",
            "4: outcome=\"ran\"",
            "5 in 1: hook_fire point=\"brew/beforeExecute\" model=stage",
            "6 in 5: hook_handler point=\"brew/beforeExecute\" handler=\"warm\" owner=built-in",
            "event in 6: message=warming",
            "6: outcome=\"ran\"",
            "5: outcome=\"ran\"",
            "7 in 1: hook_flow_step point=\"brew\" step=\"operation\"",
            "event in 7: message=boils",
            "event in 7: message=steeps",
            "7: outcome=\"ran\"",
            "8 in 1: hook_fire point=\"brew/afterExecute\" model=stage",
            "8: outcome=\"ran\"",
            "9 in 1: hook_fire point=\"brew/finally\" model=stage",
            "9: outcome=\"ran\"",
            "1: outcome=\"ran\"",
        ]
    );
}
