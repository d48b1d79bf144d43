//! Traces whose code panics, blocks, fires, removes or ends what it should not: the fire
//! that is traced is as it would be without (L12, L24).

mod support;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

use hooks_runtime::json::Value;
use hooks_runtime::operator::{Capture, Trace, TraceEnd, TraceFilter, TraceLimit, TracedPayload};
use hooks_runtime::{Gate, HookRegistry, Judgement, hook_points, on};
use support::keep_quiet;

/// Text that cannot be data.
#[derive(Clone, Debug)]
pub struct Unprintable(pub &'static str);

impl serde::Serialize for Unprintable {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            "panic" => panic!("planned: in serialize"),
            other => Err(serde::ser::Error::custom(format!("no data: {other}"))),
        }
    }
}

impl<'de> serde::Deserialize<'de> for Unprintable {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self("read"))
    }
}

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    pub gating Sending { to: String }
    pub void Odd(Unprintable);
}

const PLANNED: &[&str] = &[
    "planned: in drop",
    "planned: in redact",
    "planned: in serialize",
    "planned: in show",
    "planned: in the drop of a waker",
    "planned: in the log",
    "planned: in wake",
    "planned: in wake_by_ref",
    "planned: in when",
];

fn sending(to: &str) -> SendingPayload {
    SendingPayload { to: to.into() }
}

fn guarded() -> HookRegistry {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Sending>().name("desk").guard(|it: &SendingPayload| {
            if it.to == "desk" { Judgement::Pass } else { Judgement::reject("not the desk") }
        }))
        .unwrap();
    hooks
}

/// The gate is as it always is, whatever traces do.
async fn assert_guarded(hooks: &HookRegistry) {
    let passed = hooks.fire_gating::<Sending>(sending("desk")).await.unwrap();
    assert!(matches!(passed, Gate::Passed(SendingPayload { to }) if to == "desk"));
    let rejected = hooks.fire_gating::<Sending>(sending("moon")).await.unwrap();
    assert!(matches!(rejected, Gate::Rejected(rejection) if rejection.reason() == "not the desk"));
}

#[tokio::test]
async fn l12_a_filter_that_panics_ends_its_trace_and_nothing_else() {
    keep_quiet(PLANNED);
    let hooks = guarded();
    let operator = hooks.operator();
    let limit = TraceLimit::count(100);
    let panics = || TraceFilter::at::<Sending>();
    let when = panics().when(|_: &SendingPayload| panic!("planned: in when"));
    let when = operator.trace(when, limit).unwrap();
    let show = panics().show(|_: &SendingPayload| panic!("planned: in show"));
    let show = operator.trace(show, limit).unwrap();
    let redact = Capture::json(&points()).redact(|_, _: &mut Value| panic!("planned: in redact"));
    let redact = operator.trace(TraceFilter::all().capture(redact), limit).unwrap();
    let mut sound = operator.trace(TraceFilter::all(), limit).unwrap();
    assert_guarded(&hooks).await;
    let ended = |trace: &Trace| trace.ended().unwrap();
    assert_eq!(ended(&when), TraceEnd::Panicked("planned: in when".into()));
    assert_eq!(ended(&show), TraceEnd::Panicked("planned: in show".into()));
    assert_eq!(ended(&redact), TraceEnd::Panicked("planned: in redact".into()));
    assert_eq!(ended(&redact).to_string(), "its filter panicked: planned: in redact");
    assert_eq!((sound.seen(), sound.ended()), (2, None));
    assert_eq!(sound.try_next().unwrap().outcome(), "passed");
    assert_eq!(operator.traces().len(), 1);
}

#[tokio::test]
async fn l12_a_payload_that_cannot_be_data_is_said_to_be_so() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    let all = || TraceFilter::all().capture(Capture::json(&points()));
    let mut trace = hooks.operator().trace(all(), TraceLimit::count(9)).unwrap();
    hooks.fire_void::<Odd>(&Unprintable("\u{202e}x")).await.unwrap();
    let fire = trace.try_next().unwrap();
    let problem = "no data: \u{202e}x".to_owned();
    assert_eq!(fire.payload(), Some(&TracedPayload::Failed { problem }));
    let text = fire.to_string();
    assert!(text.starts_with(r"odd notified, its payload cannot be shown: no data: \u{202e}x"));
    hooks.fire_void::<Odd>(&Unprintable("panic")).await.unwrap();
    assert_eq!(trace.ended(), Some(TraceEnd::Panicked("planned: in serialize".into())));
}

/// Panics when it is dropped.
struct PanicsInDrop(Arc<AtomicU32>);

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        panic!("planned: in drop");
    }
}

#[tokio::test]
async fn l12_what_a_filter_captured_may_panic_in_its_drop() {
    keep_quiet(PLANNED);
    let hooks = guarded();
    let drops = Arc::new(AtomicU32::new(0));
    let filter = || {
        let (one, two) = (PanicsInDrop(Arc::clone(&drops)), PanicsInDrop(Arc::clone(&drops)));
        TraceFilter::at::<Sending>()
            .when(move |_| one.0.load(Ordering::Relaxed) < 100)
            .show(move |_| two.0.load(Ordering::Relaxed).to_string())
    };
    let trace = hooks.operator().trace(filter(), TraceLimit::count(1)).unwrap();
    assert_guarded(&hooks).await;
    drop(trace);
    assert_eq!(drops.load(Ordering::Relaxed), 2);
    // Of one that is refused as well, and the registry goes on.
    assert!(hooks.operator().trace(filter(), TraceLimit::count(0)).is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 4);
    let most: Vec<_> = (0..64)
        .map(|_| hooks.operator().trace(TraceFilter::all(), TraceLimit::count(1)).unwrap())
        .collect();
    assert!(hooks.operator().trace(filter(), TraceLimit::count(1)).is_err());
    assert_eq!(drops.load(Ordering::Relaxed), 6);
    drop(most);
    assert_guarded(&hooks).await;
}

#[tokio::test]
async fn l26_a_filter_that_fires_what_it_traces_ends() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    let asked = Arc::new(AtomicU32::new(0));
    let (registry, count) = (hooks.clone(), Arc::clone(&asked));
    let filter = TraceFilter::at::<Sending>().when(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        let fire = pin!(registry.fire_gating::<Sending>(sending("within")));
        matches!(fire.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(_)))
    });
    let trace = hooks.operator().trace(filter, TraceLimit::count(100)).unwrap();
    assert!(hooks.fire_gating::<Sending>(sending("desk")).await.is_ok());
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    drop(trace);
    // The filter held the registry: gone with the trace.
    assert!(hooks.fire_gating::<Sending>(sending("desk")).await.is_ok());
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn l24_a_filter_may_end_its_own_trace_and_begin_another() {
    static SLOT: OnceLock<Mutex<Vec<Trace>>> = OnceLock::new();
    let traces = SLOT.get_or_init(Mutex::default);
    let hooks = guarded();
    let operator = hooks.operator();
    let filter = TraceFilter::at::<Sending>().when(move |_| {
        let own = traces.lock().unwrap().pop();
        if own.is_some() {
            let next = operator.trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
            traces.lock().unwrap().push(next);
        }
        true
    });
    let first = hooks.operator().trace(filter, TraceLimit::count(9)).unwrap();
    traces.lock().unwrap().push(first);
    assert_guarded(&hooks).await;
    let mut next = traces.lock().unwrap().pop().unwrap();
    assert_eq!(next.id().number(), 2);
    // Begun within the first fire, so it saw the second.
    assert_eq!((next.seen(), next.try_next().unwrap().outcome()), (1, "rejected"));
}

/// A waker that panics whatever is done to it.
fn hostile_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(std::ptr::null(), &VTABLE),
        |_| panic!("planned: in wake"),
        |_| panic!("planned: in wake_by_ref"),
        |_| panic!("planned: in the drop of a waker"),
    );
    // SAFETY: the functions look at nothing.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) }
}

#[tokio::test]
async fn l12_a_waker_that_panics_stays_with_the_trace() {
    keep_quiet(PLANNED);
    let hooks = guarded();
    let mut trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(9)).unwrap();
    let waker = std::mem::ManuallyDrop::new(hostile_waker());
    for _ in 0..2 {
        assert!(trace.poll_next(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_guarded(&hooks).await;
    assert_eq!(trace.seen(), 2);
    assert!(trace.poll_next(&mut Context::from_waker(&waker)).is_ready());
    while trace.try_next().is_some() {}
    assert!(trace.poll_next(&mut Context::from_waker(&waker)).is_pending());
    drop(trace);
    assert_guarded(&hooks).await;
}

#[tokio::test]
async fn l12_a_subscriber_that_panics_does_not_keep_a_trace_from_ending() {
    struct Panics;
    impl tracing::Subscriber for Panics {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }
        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
        fn event(&self, _: &tracing::Event<'_>) {
            panic!("planned: in the log");
        }
        fn enter(&self, _: &tracing::span::Id) {}
        fn exit(&self, _: &tracing::span::Id) {}
    }
    keep_quiet(PLANNED);
    let hooks = guarded();
    let log = tracing::subscriber::set_default(Panics);
    let trace = hooks.operator().trace(TraceFilter::all(), TraceLimit::count(1)).unwrap();
    assert_guarded(&hooks).await;
    drop(log);
    assert_eq!(trace.ended(), Some(TraceEnd::Limit));
    assert!(hooks.operator().traces().is_empty());
}
