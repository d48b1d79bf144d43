//! Attempts to make a trace change what it looks at, run code where it must not, or keep
//! what it should have let go of.

mod support;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use hooks_runtime::error::FireError;
use hooks_runtime::model::FieldSet;
use hooks_runtime::operator::{
    Capture, Trace, TraceEnd, TraceFilter, TraceLimit, TracedFire, TracedPayload,
};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookRegistry, Merge, hook_points, on};
use support::hostile::{at_exit, deepest, depth, nested};
use support::{Count, keep_quiet, poll_once};

/// A result whose `filled` is written by hand, and panics.
#[derive(Debug, Default, PartialEq)]
pub struct Joined(Option<&'static str>);

impl Merge for Joined {
    const FIELDS: &'static [&'static str] = &["bolt"];

    fn merge(&mut self, later: Self) -> FieldSet {
        self.0 = self.0.or(later.0);
        FieldSet::new()
    }

    fn filled(&self) -> FieldSet {
        panic!("planned: in filled");
    }
}

/// Data that says much when it cannot be read.
#[derive(Clone, Debug)]
pub struct Wordy(pub usize);

impl serde::Serialize for Wordy {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("x".repeat(self.0)))
    }
}

impl<'de> serde::Deserialize<'de> for Wordy {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self(1))
    }
}

hook_points! {
    pub void Told(u32);
    #[hook(on_failure = "closed")]
    pub void Strict(u32);
    #[hook(on_failure = "closed")]
    pub modifying Join(u32) -> Joined;
    pub flow Press(u32) -> u32;
}

hook_points! {
    #![hook(json = "snake_case", catalogue = pub fn points)]
    pub void Said(Wordy);
}

const PLANNED: &[&str] = &["planned: in filled"];
const LIMIT: TraceLimit = TraceLimit::Count(1_000);

fn tell(hooks: &HookRegistry) {
    assert!(poll_once(pin!(hooks.fire_void::<Told>(&1))).is_ready());
}

// Outcomes.

#[test]
fn l33_a_trace_does_not_ask_for_a_runtime() {
    let hooks = HookRegistry::builder().max_background(1).build();
    assert!(hooks.try_spawn_void::<Told>(1).is_ok());
    let mut trace = hooks.operator().trace(TraceFilter::at::<Told>(), LIMIT).unwrap();
    assert!(hooks.try_spawn_void::<Told>(1).is_ok());
    let fire = pin!(hooks.spawn_void::<Told>(1));
    assert!(matches!(poll_once(fire), Poll::Ready(Ok(()))));
    // Seen all the same.
    let words: Vec<_> = std::iter::from_fn(|| trace.try_next()).map(|it| it.outcome()).collect();
    assert_eq!(words, ["notified"; 2]);
}

#[tokio::test]
async fn l33_a_trace_does_not_fill_the_background() {
    let hooks = HookRegistry::builder().max_background(1).build();
    let shown = TraceFilter::at::<Told>().when(|it| *it > 0).show(|it| it.to_string());
    let mut trace = hooks.operator().trace(shown, LIMIT).unwrap();
    for n in [0, 1, 2] {
        assert!(hooks.try_spawn_void::<Told>(n).is_ok());
    }
    let texts: Vec<_> = std::iter::from_fn(|| trace.try_next())
        .map(|it| it.payload().unwrap().text().unwrap().to_owned())
        .collect();
    assert_eq!(texts, ["1", "2"]);
}

#[tokio::test]
async fn l12_a_result_that_cannot_say_what_is_filled_is_merged_all_the_same() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    hooks.register(on::<Join>().handler(|_: &u32| Joined(Some("long")))).unwrap();
    let joined = hooks.fire_modifying::<Join>(&1).await.unwrap();
    let trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    assert_eq!(hooks.fire_modifying::<Join>(&1).await.unwrap(), joined);
    assert_eq!(trace.seen(), 1);
    let (reported, _) = hooks.fire_modifying_reported::<Join>(&1).await;
    assert_eq!(reported.unwrap(), joined);
}

// Code that fires.

/// A clock that fires.
struct Fires(Arc<OnceLock<HookRegistry>>, fn(&HookRegistry));

impl fmt::Debug for Fires {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fires")
    }
}

impl Timer for Fires {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        None
    }

    fn now(&self) -> Instant {
        if let Some(hooks) = self.0.get() {
            nested(|| (self.1)(hooks));
        }
        Instant::now()
    }
}

fn with_clock(fires: fn(&HookRegistry), filter: TraceFilter) -> u32 {
    let slot = Arc::new(OnceLock::new());
    let hooks = HookRegistry::builder().max_depth(4).timer(Fires(Arc::clone(&slot), fires)).build();
    let _trace = hooks.operator().trace(filter, LIMIT).unwrap();
    slot.set(hooks.clone()).unwrap();
    fires(&hooks);
    deepest()
}

#[test]
fn l26_a_clock_that_fires_what_is_traced_ends() {
    let deepest = with_clock(tell, TraceFilter::all());
    assert!(deepest <= 8, "{deepest}");
}

#[test]
fn l26_a_clock_that_runs_the_flow_that_is_traced_ends() {
    let run = |hooks: &HookRegistry| {
        let press = async |n: u32| Ok::<_, std::io::Error>(n);
        let _refused = poll_once(pin!(hooks.flow::<Press>().run(1, press)));
    };
    let deepest = with_clock(run, TraceFilter::all().until(Duration::from_secs(3600)));
    assert!(deepest <= 8, "{deepest}");
}

/// An error that fires while it is printed.
struct Printed(HookRegistry, Arc<AtomicU32>);

impl fmt::Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Printed")
    }
}

impl fmt::Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fetch_add(1, Ordering::Relaxed);
        nested(|| {
            if depth() == deepest() {
                let _failed = poll_once(pin!(self.0.fire_void::<Strict>(&1)));
            }
        });
        f.write_str("printed")
    }
}

impl std::error::Error for Printed {}

#[test]
fn l26_an_error_that_fires_what_is_traced_ends() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    let (registry, printed) = (hooks.clone(), Arc::default());
    let fails = move |_: &u32| Err(Printed(registry.clone(), Arc::clone(&printed)));
    hooks.register(on::<Strict>().handler(fails)).unwrap();
    let _trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    assert!(matches!(poll_once(pin!(hooks.fire_void::<Strict>(&1))), Poll::Ready(Err(_))));
    let reached = deepest();
    assert!(reached <= 8, "{reached}");
}

/// An error of a plugin, which asks for the removal of the plugin while it is printed.
#[derive(Debug)]
struct Leaves {
    hooks: HookRegistry,
    removed: Arc<Mutex<Vec<bool>>>,
}

impl fmt::Display for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let removal = self.hooks.unregister_plugin("leaving");
        let is_done = match poll_once(pin!(removal.into_future())) {
            Poll::Ready(left) => left.into_result().is_ok(),
            Poll::Pending => false,
        };
        self.removed.lock().unwrap().push(is_done);
        f.write_str("leaves")
    }
}

impl std::error::Error for Leaves {}

#[tokio::test]
async fn l19_no_code_of_a_plugin_runs_for_a_trace_after_its_removal() {
    let hooks = HookRegistry::new();
    let removed = Arc::new(Mutex::new(Vec::new()));
    let (registry, log) = (hooks.clone(), Arc::clone(&removed));
    hooks
        .register(on::<Strict>().plugin("leaving").handler(move |_: &u32| {
            Err(Leaves { hooks: registry.clone(), removed: Arc::clone(&log) })
        }))
        .unwrap();
    let mut trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    let FireError::Failed(failure) = hooks.fire_void::<Strict>(&1).await.unwrap_err() else {
        panic!("a handler failed");
    };
    assert_eq!(*removed.lock().unwrap(), [false]);
    let traced = trace.try_next().unwrap();
    assert_eq!(traced.outcome(), "failed");
    assert_eq!(traced.error(), Some(&*failure.to_string()));
}

/// A task that is polled where it is woken, and fires for each fire that it sees.
struct Inline {
    trace: Mutex<Option<Trace>>,
    hooks: HookRegistry,
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        nested(|| {
            let waker = Waker::from(Arc::clone(&self));
            let Some(mut trace) = self.trace.lock().unwrap().take() else { return };
            while trace.poll_next(&mut Context::from_waker(&waker)).is_ready() {}
            *self.trace.lock().unwrap() = Some(trace);
            let _refused = poll_once(pin!(self.hooks.fire_void::<Told>(&1)));
        });
    }
}

#[test]
fn l26_a_waker_that_fires_what_is_traced_ends() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    hooks.register(on::<Told>().handler(|_: &u32| ())).unwrap();
    let trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    let task = Arc::new(Inline { trace: Mutex::new(Some(trace)), hooks: hooks.clone() });
    Arc::clone(&task).wake();
    tell(&hooks);
    let reached = deepest();
    assert!(reached <= 8, "{reached}");
    // It is woken by the end of the trace, which is therefore outside of the lock.
    let trace = task.trace.lock().unwrap().take();
    drop(trace);
}

// What is kept.

#[tokio::test]
async fn what_is_left_out_of_a_payload_takes_no_memory() {
    let hooks = HookRegistry::new();
    let shown = TraceFilter::at::<Told>().show(|_| "x".repeat(10_000_000)).payload_bytes(10);
    let mut trace = hooks.operator().trace(shown, LIMIT).unwrap();
    tell(&hooks);
    let fire = trace.try_next().unwrap();
    let Some(TracedPayload::Shown { text, left_out }) = fire.payload() else { panic!("{fire}") };
    assert_eq!((text.len(), *left_out), (10, 9_999_990));
    assert!(text.capacity() < 100, "{}", text.capacity());
}

#[tokio::test]
async fn why_a_payload_is_not_data_is_kept_no_longer_than_a_payload() {
    let hooks = HookRegistry::new();
    let all = TraceFilter::all().capture(Capture::json(&points())).payload_bytes(10);
    let mut trace = hooks.operator().trace(all, LIMIT).unwrap();
    hooks.fire_void::<Said>(&Wordy(1_000_000)).await.unwrap();
    let fire = trace.try_next().unwrap();
    let Some(TracedPayload::Failed { problem }) = fire.payload() else { panic!("{fire}") };
    assert!(problem == "xxxxxxxxxx", "{}", problem.len());
    assert!(problem.capacity() < 100, "{}", problem.capacity());
}

#[tokio::test]
async fn what_a_filter_captured_goes_with_the_trace() {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<Told>().handler(async |_: &u32| std::future::pending::<()>().await))
        .unwrap();
    let gone = Count::default();
    let captured = gone.on_drop();
    let filter = TraceFilter::at::<Told>().when(move |_| {
        let _captured = &captured;
        true
    });
    let trace = hooks.operator().trace(filter, LIMIT).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Told>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    drop(trace);
    assert_eq!(gone.get(), 1);
}

#[tokio::test]
async fn a_filter_is_not_asked_once_its_trace_has_ended() {
    static SECOND: Mutex<Option<Trace>> = Mutex::new(None);
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let hooks = HookRegistry::new();
    let first = TraceFilter::at::<Told>().when(|_| {
        drop(SECOND.lock().unwrap().take());
        true
    });
    let first = hooks.operator().trace(first, LIMIT).unwrap();
    let second = TraceFilter::at::<Told>().when(|_| {
        ASKED.fetch_add(1, Ordering::Relaxed);
        true
    });
    *SECOND.lock().unwrap() = Some(hooks.operator().trace(second, LIMIT).unwrap());
    tell(&hooks);
    assert_eq!((first.seen(), ASKED.load(Ordering::Relaxed)), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn traces_whose_time_has_passed_are_not_in_the_way_of_others() {
    let hooks = HookRegistry::new();
    let operator = hooks.operator();
    let second = Duration::from_secs(1);
    let begin = || operator.trace(TraceFilter::at::<Told>().until(second), LIMIT);
    let old: Vec<_> = (0..64).map(|_| begin().unwrap()).collect();
    tokio::time::advance(2 * second).await;
    assert_eq!(operator.traces(), []);
    let _new = begin().unwrap();
    assert!(old.iter().all(|trace| trace.ended() == Some(TraceEnd::Time)));
}

// Threads.

#[test]
fn l24_fires_and_traces_in_the_destructors_of_a_thread() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Told>().handler(|_: &u32| ())).unwrap();
    let asked = Arc::new(AtomicU32::new(0));
    let (count, registry) = (Arc::clone(&asked), hooks.clone());
    let filter = TraceFilter::at::<Told>().when(move |n| {
        count.fetch_add(1, Ordering::Relaxed);
        if *n == 0 {
            tell(&registry);
        }
        true
    });
    let mut trace = hooks.operator().trace(filter, LIMIT).unwrap();
    let late = hooks.clone();
    thread::spawn(move || {
        let own = late.operator().trace(TraceFilter::all(), LIMIT).unwrap();
        let last = late.clone();
        at_exit(move || {
            assert!(poll_once(pin!(last.fire_void::<Told>(&0))).is_ready());
            assert_eq!(own.seen(), 3);
            drop(own);
        });
        tell(&late);
    })
    .join()
    .unwrap();
    assert_eq!((trace.seen(), asked.load(Ordering::Relaxed)), (3, 3));
    let depths: Vec<_> = std::iter::from_fn(|| trace.try_next()).map(|it| it.depth()).collect();
    assert_eq!(depths, [0, 1, 0]);
    assert_eq!(hooks.operator().traces().len(), 1);
}

/// Threads that reach the limit together: what is counted is there.
#[test]
fn what_is_seen_is_there_or_dropped() {
    const THREADS: u64 = 4;
    for _ in 0..500 {
        let hooks = HookRegistry::new();
        let filter = TraceFilter::at::<Told>().buffer(2);
        let mut trace = hooks.operator().trace(filter, TraceLimit::count(THREADS)).unwrap();
        let barrier = std::sync::Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    tell(&hooks);
                });
            }
        });
        let taken: Vec<TracedFire> = std::iter::from_fn(|| trace.try_next()).collect();
        assert_eq!((trace.seen(), trace.dropped(), taken.len()), (THREADS, THREADS - 2, 2));
    }
}
