//! Async closures that capture: a clone for each call, under the laws of every handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::{
    Claim, FailurePolicy, Gate, HookContext, HookRegistry, Verdict, capturing, hook_points, on,
};
use tokio::sync::Barrier;

hook_points! {
    pub void Told(u32);
    pub modifying Amended(u32) -> { text: String }
    pub claiming Claimed(u32) -> u32;
    pub gating Gated(u32);
}

/// Counts how often it was cloned and dropped.
#[derive(Debug, Default)]
struct Counts {
    clones: AtomicUsize,
    drops: AtomicUsize,
}

impl Counts {
    fn now(&self) -> (usize, usize) {
        (self.clones.load(Ordering::Relaxed), self.drops.load(Ordering::Relaxed))
    }
}

struct Counted(Arc<Counts>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.clones.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn l02_a_capturing_async_closure_is_a_handler_of_every_model() {
    let hooks = HookRegistry::new();
    let sum = Arc::new(AtomicUsize::new(0));
    let summed = Arc::clone(&sum);
    hooks
        .register_void::<Told>(capturing(async move |n: &u32| {
            tokio::task::yield_now().await;
            summed.fetch_add(*n as usize, Ordering::Relaxed);
        }))
        .unwrap();
    let summed = Arc::clone(&sum);
    let with_context = capturing(async move |n: &u32, cx: &HookContext| {
        tokio::task::yield_now().await;
        assert_eq!((cx.point(), cx.handler()), ("told", "second"));
        summed.fetch_add(*n as usize * 10, Ordering::Relaxed);
    });
    hooks.register(on::<Told>().name("second").handler(with_context)).unwrap();
    let text = String::from("captured");
    // It gives away what it captured: the next call has a clone of its own.
    let amend = capturing(async move |_: &u32| AmendedResult { text: Some(text) });
    hooks.register_modifying::<Amended>(amend).unwrap();
    let claimed = Arc::new(7);
    hooks.register_claiming::<Claimed>(capturing(async move |_: &u32| Some(*claimed))).unwrap();
    let (most, limit) = (Arc::new(100), Arc::new(50));
    hooks
        .register_gating::<Gated>(capturing(async move |n: &u32| Verdict::Replace(*n.min(&most))))
        .unwrap();
    hooks
        .register_guard::<Gated>(capturing(async move |n: &u32| {
            if *n > *limit { Verdict::reject(format!("{n} is too much")) } else { Verdict::Pass }
        }))
        .unwrap();

    for _ in 0..2 {
        hooks.fire_void::<Told>(&3).await.unwrap();
        let amended = hooks.fire_modifying::<Amended>(&3).await.unwrap();
        assert_eq!(amended.text.as_deref(), Some("captured"));
        assert_eq!(hooks.fire_claiming::<Claimed>(&3).await.unwrap(), Claim::Claimed(7));
        assert_eq!(hooks.fire_gating::<Gated>(3).await.unwrap(), Gate::Passed(3));
        let Gate::Rejected(rejection) = hooks.fire_gating::<Gated>(500).await.unwrap() else {
            panic!("the guard has judged what was left");
        };
        assert_eq!(rejection.reason(), "100 is too much");
    }
    assert_eq!(sum.load(Ordering::Relaxed), 2 * (3 + 30));
}

#[tokio::test]
async fn l24_calls_of_one_capturing_closure_at_the_same_time_have_a_clone_each() {
    let hooks = HookRegistry::new();
    let (counts, barrier) = (Arc::new(Counts::default()), Arc::new(Barrier::new(3)));
    let (counted, met) = (Counted(Arc::clone(&counts)), Arc::clone(&barrier));
    hooks
        .register_void::<Told>(capturing(async move |_: &u32| {
            met.wait().await;
            drop(counted);
        }))
        .unwrap();
    assert_eq!(counts.now(), (0, 0), "a registration clones nothing");
    let (one, two, _) =
        tokio::join!(hooks.fire_void::<Told>(&1), hooks.fire_void::<Told>(&2), barrier.wait(),);
    one.unwrap();
    two.unwrap();
    assert_eq!(counts.now(), (2, 2));
}

#[tokio::test]
async fn l12_a_clone_that_panics_is_a_failure_of_its_handler() {
    struct Explosive;
    impl Clone for Explosive {
        fn clone(&self) -> Self {
            panic!("not twice")
        }
    }
    let hooks = HookRegistry::new();
    let explosive = Explosive;
    let handler = capturing(async move |_: &u32| {
        let _captured = explosive;
    });
    hooks
        .register(on::<Told>().name("explosive").on_failure(FailurePolicy::Closed).handler(handler))
        .unwrap();
    let error = hooks.fire_void::<Told>(&1).await.unwrap_err();
    assert_eq!(error.to_string(), "handler `explosive` (built-in) at `told`: panicked: not twice");
}

#[tokio::test]
async fn l19_what_a_capturing_closure_captured_is_dropped_by_its_removal() {
    let hooks = HookRegistry::new();
    let counts = Arc::new(Counts::default());
    let counted = Counted(Arc::clone(&counts));
    let handle = hooks
        .register_void::<Told>(capturing(async move |_: &u32| {
            let _captured = &counted;
            tokio::task::yield_now().await;
        }))
        .unwrap();
    hooks.fire_void::<Told>(&1).await.unwrap();
    assert_eq!(counts.now(), (1, 1));
    handle.unregister().await;
    assert_eq!(counts.now(), (1, 2));
}
