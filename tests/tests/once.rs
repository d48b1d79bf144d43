//! Handlers that are called once (L31).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{
    Claim, FailurePolicy, HookContext, HookRegistry, handlers, hook_handler, hook_handlers,
    hook_points, on,
};

hook_points! {
    pub void Opened { drawer: u32 }
    pub claiming Route(u32) -> u32;
}

const OPENED: OpenedPayload = OpenedPayload { drawer: 1 };

#[tokio::test]
async fn l31_it_is_removed_with_its_first_call() {
    let hooks = HookRegistry::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let handle = hooks
        .register(on::<Opened>().name("greet").once().handler(move |_: &OpenedPayload| {
            count.fetch_add(1, Ordering::Relaxed);
        }))
        .unwrap();
    assert!(hooks.handlers_at::<Opened>()[0].once);

    let (outcome, report) = hooks.fire_void_reported::<Opened>(&OPENED).await;
    outcome.unwrap();
    assert!(matches!(report.handler("greet").unwrap().status(), HandlerStatus::Ran(_)));
    assert!(hooks.handlers_at::<Opened>().is_empty());
    assert_eq!(Arc::strong_count(&calls), 1, "its captures are dropped");

    hooks.fire_void::<Opened>(&OPENED).await.unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(handle.unregister().removed(), 0, "removing it again is harmless");
}

/// Only a call counts: a condition that is not met, or that panics, leaves it there.
#[tokio::test]
async fn l31_the_one_call_is_taken_after_the_condition() {
    let hooks = HookRegistry::new();
    hooks
        .register(
            on::<Route>()
                .name("picky")
                .once()
                .when(|n| if *n == 0 { panic!("zero") } else { *n == 3 })
                .handler(|n: &u32| Some(*n)),
        )
        .unwrap();
    for (n, claim) in [
        (0, Claim::Unclaimed),
        (1, Claim::Unclaimed),
        (3, Claim::Claimed(3)),
        (3, Claim::Unclaimed),
    ] {
        assert_eq!(hooks.fire_claiming::<Route>(&n).await.unwrap(), claim, "{n}");
    }
}

#[tokio::test]
async fn l31_it_is_removed_whatever_comes_of_the_call() {
    for fails in ["error", "panic", "pending"] {
        let hooks = HookRegistry::new();
        hooks
            .register(on::<Opened>().once().on_failure(FailurePolicy::Closed).handler(
                async move |_: &OpenedPayload| -> Result<(), String> {
                    match fails_with() {
                        "error" => Err("no".into()),
                        "panic" => panic!("no"),
                        _ => std::future::pending().await,
                    }
                },
            ))
            .unwrap();
        FAILS.with(|it| it.set(fails));
        {
            let mut fire = Box::pin(hooks.fire_void::<Opened>(&OPENED));
            let polled = futures::poll!(&mut fire);
            assert_eq!(polled.is_pending(), fails == "pending");
            assert!(hooks.handlers_at::<Opened>().is_empty(), "{fails}");
        }
        hooks.fire_void::<Opened>(&OPENED).await.unwrap();
    }
}

thread_local! {
    static FAILS: std::cell::Cell<&'static str> = const { std::cell::Cell::new("") };
}

fn fails_with() -> &'static str {
    FAILS.with(std::cell::Cell::get)
}

/// A fire that comes to it while its one call is under way skips it, and says so.
#[tokio::test]
async fn l31_a_fire_from_inside_of_it_skips_it() {
    let hooks = HookRegistry::new();
    let inner = Arc::new(std::sync::Mutex::new(None));
    let seen = inner.clone();
    hooks
        .register(on::<Opened>().name("again").once().handler_with(
            seen,
            async |seen: &Arc<std::sync::Mutex<Option<HandlerStatus>>>,
                   _: &OpenedPayload,
                   cx: &HookContext| {
                let (outcome, report) = cx.hooks().fire_void_reported::<Opened>(&OPENED).await;
                outcome.unwrap();
                *seen.lock().unwrap() = Some(report.handler("again").unwrap().status().clone());
            },
        ))
        .unwrap();
    hooks.fire_void::<Opened>(&OPENED).await.unwrap();
    let status = inner.lock().unwrap().take().unwrap();
    assert_eq!(status, HandlerStatus::Filtered(SkipReason::Once));
    assert_eq!(status.to_string(), "not called: called once already");
    assert!(hooks.handlers_at::<Opened>().is_empty());
}

#[test]
fn l31_of_fires_on_many_threads_one_calls_it() {
    const THREADS: usize = 4;
    for _ in 0..200 {
        let hooks = HookRegistry::new();
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        hooks
            .register(on::<Opened>().once().handler(move |_: &OpenedPayload| {
                count.fetch_add(1, Ordering::Relaxed);
            }))
            .unwrap();
        let barrier = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    barrier.wait();
                    futures::executor::block_on(hooks.fire_void::<Opened>(&OPENED)).unwrap();
                });
            }
        });
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert!(hooks.handlers_at::<Opened>().is_empty());
        assert_eq!(Arc::strong_count(&calls), 1);
    }
}

#[hook_handler(Route, once)]
fn first(n: &u32) -> Option<u32> {
    Some(*n)
}

#[tokio::test]
async fn l31_once_is_a_flag_of_the_attribute() {
    let hooks = HookRegistry::new();
    hooks.register(handlers![first]).unwrap();
    assert_eq!(hooks.fire_claiming::<Route>(&1).await.unwrap(), Claim::Claimed(1));
    assert_eq!(hooks.fire_claiming::<Route>(&2).await.unwrap(), Claim::Unclaimed);
}

struct Greeter(Arc<std::sync::Mutex<Vec<&'static str>>>);

#[hook_handlers(plugin = "greeter")]
impl Greeter {
    #[hook_handler(Opened, once)]
    fn greet(&self, _: &OpenedPayload) {
        self.0.lock().unwrap().push("called");
    }

    #[stop]
    async fn stop(&self) {
        self.0.lock().unwrap().push("stopped");
    }
}

impl Drop for Greeter {
    fn drop(&mut self) {
        self.0.lock().unwrap().push("dropped");
    }
}

/// A plugin whose last handler was called once is installed still: its stop runs when
/// the host uninstalls it.
#[tokio::test]
async fn l31_a_plugin_is_stopped_after_its_last_handler_was_called_once() {
    for by_handle in [true, false] {
        let hooks = HookRegistry::new();
        let log = Arc::default();
        let installed = hooks.install(Greeter(Arc::clone(&log))).unwrap();
        hooks.fire_void::<Opened>(&OPENED).await.unwrap();
        assert!(hooks.handlers_at::<Opened>().is_empty());
        assert!(hooks.is_installed("greeter"));
        assert_eq!(*log.lock().unwrap(), ["called"]);

        let removal =
            if by_handle { installed.uninstall() } else { hooks.unregister_plugin("greeter") };
        removal.await;
        assert_eq!(*log.lock().unwrap(), ["called", "stopped", "dropped"]);
        assert!(!hooks.is_installed("greeter"));
    }
}
