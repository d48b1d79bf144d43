//! Traces at the edges of what they take: limits, clocks, drops, clashes, two registries.

mod support;

use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use hooks_runtime::error::FireError;
use hooks_runtime::operator::{TraceFilter, TraceLimit};
use hooks_runtime::timer::{Sleep, Timer};
use hooks_runtime::{HookRegistry, hook_points, on};
use support::hostile::{deepest, nested};
use support::{Count, drained, keep_quiet, poll_once};

hook_points! {
    pub void Told(u32);
    #[hook(on_failure = "closed")]
    pub void Strict(u32);
}

const PLANNED: &[&str] = &["planned: in now", "planned: in sleep"];
const LIMIT: TraceLimit = TraceLimit::Count(1_000);

fn tell(hooks: &HookRegistry) {
    assert!(poll_once(pin!(hooks.fire_void::<Told>(&1))).is_ready());
}

#[tokio::test]
async fn l26_two_registries_with_filters_that_fire_each_other_end() {
    let one = HookRegistry::builder().max_depth(3).build();
    let two = HookRegistry::builder().max_depth(3).build();
    let fires = |of: &HookRegistry| {
        let of = of.clone();
        TraceFilter::at::<Told>().when(move |_| {
            nested(|| tell(&of));
            true
        })
    };
    let first = one.operator().trace(fires(&two), LIMIT).unwrap();
    let second = two.operator().trace(fires(&one), LIMIT).unwrap();
    tell(&one);
    assert!(deepest() <= 8, "{}", deepest());
    assert!(first.seen() > 0 && second.seen() > 0);
    drop(first);
    drop(second);
}

#[tokio::test]
async fn l25_fires_dropped_at_every_poll_are_traced_once() {
    let hooks = HookRegistry::new();
    for n in 0..3 {
        hooks
            .register(on::<Told>().name(format!("w{n}")).handler_with(
                n,
                async |n: &i32, _: &u32| {
                    for _ in 0..*n {
                        tokio::task::yield_now().await;
                    }
                },
            ))
            .unwrap();
    }
    let mut trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    for polls in 0..6 {
        let mut fire = Box::pin(hooks.fire_void::<Told>(&1));
        let mut done = false;
        for _ in 0..polls {
            if !done {
                done = poll_once(fire.as_mut()).is_ready();
            }
        }
        thread::scope(|s| {
            s.spawn(move || drop(fire));
        });
        let got: Vec<_> = std::iter::from_fn(|| trace.try_next())
            .map(|f| (f.outcome(), f.report().handlers().len()))
            .collect();
        let expected = if polls == 0 {
            vec![]
        } else if done {
            vec![("notified", 3)]
        } else {
            vec![("dropped", 3)]
        };
        assert_eq!(got, expected, "{polls}");
    }
}

#[tokio::test]
async fn l19_a_trace_keeps_nothing_of_a_plugin() {
    let hooks = HookRegistry::new();
    let gone = Count::default();
    let value = gone.on_drop();
    hooks
        .register(on::<Strict>().plugin("leaving").handler(move |_: &u32| {
            let _v = &value;
            Err::<(), _>("no")
        }))
        .unwrap();
    let trace = hooks.operator().trace(TraceFilter::target("*:leaving/*"), LIMIT).unwrap();
    hooks.fire_void::<Strict>(&1).await.unwrap_err();
    drained(&hooks.unregister_plugin("leaving")).await.unwrap();
    assert_eq!(gone.get(), 1);
    assert_eq!(trace.seen(), 1);
}

#[tokio::test]
async fn l03_a_name_clash_under_a_trace_is_the_error_it_is_without() {
    mod other {
        hooks_runtime::hook_points! { #[hook(name = "told")] pub void Other(u32); }
    }
    let hooks = HookRegistry::new();
    let mut trace = hooks.operator().trace(TraceFilter::all(), LIMIT).unwrap();
    tell(&hooks);
    assert!(matches!(hooks.fire_void::<other::Other>(&1).await, Err(FireError::NameClash(_))));
    let (failed, _) = hooks.fire_void_reported::<other::Other>(&1).await;
    assert!(matches!(failed, Err(FireError::NameClash(_))));
    assert_eq!(trace.seen(), 1);
    assert!(trace.try_next().is_some());
}

#[tokio::test(start_paused = true)]
async fn limits_at_their_edges() {
    let hooks = HookRegistry::new();
    let max = Duration::MAX;
    for limit in [
        TraceLimit::count(u64::MAX),
        TraceLimit::rate(u32::MAX, max),
        TraceLimit::throttle(u32::MAX, max),
        TraceLimit::throttle(1, Duration::from_nanos(1)),
    ] {
        let filter = TraceFilter::all().until(max).buffer(usize::MAX).payload_bytes(usize::MAX);
        let mut trace = hooks.operator().trace(filter, limit).unwrap();
        assert!(trace.poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
        tell(&hooks);
        assert!(trace.next().await.is_some());
        assert!(trace.poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert!(hooks.operator().traces().is_empty());
}

/// A clock and waits that panic.
#[derive(Debug)]
struct Broken;

impl Timer for Broken {
    fn sleep(&self, _: Duration) -> Option<Sleep> {
        Some(Box::pin(async { panic!("planned: in sleep") }))
    }
    fn now(&self) -> Instant {
        panic!("planned: in now")
    }
}

#[tokio::test]
async fn l12_a_clock_that_panics_stays_with_the_trace() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::builder().timer(Broken).build();
    let filter = TraceFilter::all().until(Duration::from_secs(3600));
    let mut trace =
        hooks.operator().trace(filter, TraceLimit::rate(100, Duration::from_secs(1))).unwrap();
    assert!(trace.poll_next(&mut Context::from_waker(Waker::noop())).is_pending());
    tell(&hooks);
    assert_eq!(trace.seen(), 1);
    assert!(trace.next().await.is_some());
}
