//! Void fires that run in the background (L33).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hooks_runtime::background::SettleError;
use hooks_runtime::observe::{FireEnd, ObservedFire, Observer};
use hooks_runtime::{
    FailurePolicy, FireError, HookContext, HookRegistry, Plugins, hook_points, on,
};
use tokio::sync::{Notify, Semaphore};

hook_points! {
    pub void Opened { drawer: u32 }
    pub void Again { left: u32 }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct RequestId(u64);

fn opened(drawer: u32) -> OpenedPayload {
    OpenedPayload { drawer }
}

/// A registry whose handler waits for a permit, and what has ended of it.
fn gated() -> (HookRegistry, Arc<Semaphore>, Arc<AtomicUsize>) {
    let (permits, ended) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let hooks = HookRegistry::builder().max_background(2).build();
    let state = (permits.clone(), ended.clone());
    let handler = on::<Opened>().name("wait").handler_with(
        state,
        async |(permits, ended): &(Arc<Semaphore>, Arc<AtomicUsize>), _: &OpenedPayload| {
            permits.acquire().await.unwrap().forget();
            ended.fetch_add(1, Ordering::SeqCst);
        },
    );
    hooks.register(handler).unwrap();
    (hooks, permits, ended)
}

#[tokio::test]
async fn l33_a_void_fire_runs_in_the_background_and_can_be_waited_for() {
    let (hooks, permits, ended) = gated();
    for drawer in 0..3 {
        drop(hooks.spawn_void::<Opened>(opened(drawer)));
    }
    let settled = hooks.settled();
    assert_eq!((settled.running(), ended.load(Ordering::SeqCst)), (3, 0));

    // One that is handed over later is not waited for.
    let later = hooks.spawn_void::<Opened>(opened(9));
    permits.add_permits(3);
    settled.await.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 3);
    assert!(!later.is_finished());
    permits.add_permits(1);
    later.await.unwrap();
    hooks.settled().await.unwrap();
    assert_eq!(hooks.handlers_at::<Opened>()[0].calls, 4);
}

#[tokio::test(start_paused = true)]
async fn l33_the_wait_has_a_deadline_form_that_says_how_many_are_left() {
    let (hooks, permits, _) = gated();
    for drawer in 0..3 {
        hooks.spawn_void::<Opened>(opened(drawer));
    }
    permits.add_permits(1);
    let settled = hooks.settled();
    let limit = Duration::from_secs(5);
    let error = settled.within(limit).await.unwrap_err();
    assert_eq!(error, SettleError::StillRunning { running: 2, waited: limit });
    assert_eq!(
        error.to_string(),
        "after 5s the background has not settled, fires under way: 2; wait again, or give their \
         handlers a time limit"
    );
    permits.add_permits(2);
    settled.within(limit).await.unwrap();
    settled.within(Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn l33_past_the_bound_the_payload_comes_back() {
    let (hooks, permits, ended) = gated();
    for drawer in 0..2 {
        hooks.try_spawn_void::<Opened>(opened(drawer)).unwrap();
    }
    let full = hooks.try_spawn_void::<Opened>(opened(7)).unwrap_err();
    assert!(full.is_full());
    assert_eq!(
        full.to_string(),
        "2 fires are under way in the background, as many as the registry allows: try again \
         later, await `fire_void`, or raise `max_background` of the builder"
    );
    assert_eq!(full.into_payload().drawer, 7);
    // The other form has no bound, and a point without handlers needs none.
    hooks.spawn_void::<Opened>(opened(8));
    assert!(hooks.try_spawn_void::<Again>(AgainPayload { left: 0 }).unwrap().is_finished());
    permits.add_permits(3);
    hooks.settled().await.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 3);
    assert!(hooks.try_spawn_void::<Opened>(opened(9)).is_ok());
}

#[tokio::test]
async fn l33_it_inherits_the_scope_and_its_values() {
    let hooks = HookRegistry::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for owner in ["audit", "analytics"] {
        let see = |seen: &Arc<Mutex<Vec<String>>>, _: &OpenedPayload, cx: &HookContext| {
            let line = format!("{} {:?}", cx.owner(), cx.get::<RequestId>());
            seen.lock().unwrap().push(line);
        };
        hooks.register(on::<Opened>().plugin(owner).handler_with(seen.clone(), see)).unwrap();
    }
    let scope = hooks.scope(Plugins::only(["audit"])).with(RequestId(3));
    scope.spawn_void::<Opened>(opened(1)).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), ["plugin `audit` Some(RequestId(3))"]);
}

/// A handler that hands its own point over for ever is stopped at the depth that the
/// registry allows, although each fire begins on its own task.
#[tokio::test]
async fn l33_it_inherits_the_depth() {
    let hooks = HookRegistry::builder().max_depth(4).build();
    let calls = Arc::new(AtomicUsize::new(0));
    let last = Arc::new(Mutex::new(None));
    let state = (calls.clone(), last.clone());
    type Kept = (Arc<AtomicUsize>, Arc<Mutex<Option<hooks_runtime::background::BackgroundFire>>>);
    let again = |(calls, last): &Kept, again: &AgainPayload, cx: &HookContext| {
        calls.fetch_add(1, Ordering::SeqCst);
        let next = cx.hooks().spawn_void::<Again>(AgainPayload { left: again.left + 1 });
        *last.lock().unwrap() = Some(next);
    };
    hooks.register(on::<Again>().handler_with(state, again)).unwrap();
    hooks.spawn_void::<Again>(AgainPayload { left: 0 });
    while hooks.settled().running() > 0 {
        hooks.settled().await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 4);
    let refused = last.lock().unwrap().take().unwrap();
    assert_eq!(
        refused.await.unwrap_err().to_string(),
        "fires are nested deeper than 4: again > again > again > again > again; end the \
         recursion, or raise `max_depth` of the builder"
    );
}

/// Two registries that hand fires over to each other for ever are stopped as well.
#[tokio::test]
async fn l33_it_inherits_the_depth_in_every_registry() {
    let registry = || Arc::new(HookRegistry::builder().max_depth(4).build());
    let (one, other) = (registry(), registry());
    let calls = Arc::new(AtomicUsize::new(0));
    for (hooks, next) in [(&one, &other), (&other, &one)] {
        let state = (calls.clone(), Arc::downgrade(next));
        type Kept = (Arc<AtomicUsize>, std::sync::Weak<HookRegistry>);
        let again = |(calls, next): &Kept, again: &AgainPayload| {
            if calls.fetch_add(1, Ordering::SeqCst) < 100 {
                let next = next.upgrade().unwrap();
                next.spawn_void::<Again>(AgainPayload { left: again.left + 1 });
            }
        };
        hooks.register(on::<Again>().handler_with(state, again)).unwrap();
    }
    one.spawn_void::<Again>(AgainPayload { left: 0 });
    while one.settled().running() + other.settled().running() > 0 {
        one.settled().await.unwrap();
        other.settled().await.unwrap();
    }
    assert_eq!(calls.load(Ordering::SeqCst), 8);
}

#[tokio::test]
async fn l33_a_wait_from_inside_of_one_is_an_error() {
    let hooks = HookRegistry::new();
    let answers = Arc::new(Mutex::new(Vec::new()));
    let ask = async |answers: &Arc<Mutex<Vec<Result<(), SettleError>>>>,
                     _: &OpenedPayload,
                     cx: &HookContext| {
        let answer = cx.hooks().settled().await;
        answers.lock().unwrap().push(answer);
        let answer = cx.hooks().settled().within(Duration::from_secs(9)).await;
        answers.lock().unwrap().push(answer);
    };
    hooks.register(on::<Opened>().handler_with(answers.clone(), ask)).unwrap();
    hooks.spawn_void::<Opened>(opened(1)).await.unwrap();
    let inside = Err(SettleError::Inside);
    assert_eq!(*answers.lock().unwrap(), [inside, inside]);
    assert_eq!(
        SettleError::Inside.to_string(),
        "a fire in the background cannot wait for the fires in the background, of which it is \
         one: call `settled` where the program shuts down"
    );
    // From inside a fire that is awaited it is no wait for itself.
    hooks.fire_void::<Opened>(&opened(2)).await.unwrap();
    assert_eq!(answers.lock().unwrap()[2..], [Ok(()), Ok(())]);
}

#[derive(Debug, Default)]
struct Ends(Arc<Mutex<Vec<String>>>);

impl Observer for Ends {
    fn fire_started(&self, fire: &ObservedFire) {
        self.0.lock().unwrap().push(format!("{} starts", fire.point()));
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        let said = match end {
            FireEnd::Failed(error) => error.to_string(),
            end => end.as_str().to_owned(),
        };
        self.0.lock().unwrap().push(format!("{}: {said}", fire.point()));
    }
}

const NO_RUNTIME: &str = "there is no tokio runtime here to run a fire in the background: call \
                          `spawn_void` inside of one, or await `fire_void`";

#[test]
fn l33_without_a_runtime_the_failure_goes_to_the_observer() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let hooks = HookRegistry::builder().observer(Ends(ends.clone())).build();
    hooks.register(on::<Opened>().handler(|_: &OpenedPayload| ())).unwrap();

    let fire = hooks.spawn_void::<Opened>(opened(1));
    assert!(fire.is_finished());
    assert!(matches!(futures::executor::block_on(fire), Err(FireError::NoRuntime)));
    assert_eq!(
        *ends.lock().unwrap(),
        ["opened starts".to_owned(), format!("opened: {NO_RUNTIME}")]
    );
    assert_eq!(hooks.handlers_at::<Opened>()[0].calls, 0);

    let error = hooks.try_spawn_void::<Opened>(opened(5)).unwrap_err();
    assert_eq!((error.is_full(), error.to_string()), (false, NO_RUNTIME.to_owned()));
    assert_eq!(error.into_payload().drawer, 5);
    futures::executor::block_on(hooks.settled().into_future()).unwrap();
}

#[test]
fn l33_a_runtime_that_shuts_down_drops_it_and_ends_the_wait() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let hooks = HookRegistry::builder().observer(Ends(ends.clone())).build();
    let started = Arc::new(Notify::new());
    let handler = async |started: &Arc<Notify>, _: &OpenedPayload| {
        started.notify_one();
        std::future::pending::<()>().await;
    };
    hooks.register(on::<Opened>().handler_with(started.clone(), handler)).unwrap();

    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fire = {
        let _entered = runtime.enter();
        hooks.spawn_void::<Opened>(opened(1))
    };
    runtime.block_on(started.notified());
    assert_eq!(hooks.settled().running(), 1);
    drop(runtime);
    assert_eq!(hooks.settled().running(), 0);
    let error = futures::executor::block_on(fire).unwrap_err();
    assert!(matches!(error, FireError::Cancelled));
    assert_eq!(*ends.lock().unwrap(), ["opened starts", "opened: dropped"]);
}

#[tokio::test]
async fn l33_its_error_is_that_of_the_fire_and_it_can_be_aborted() {
    let hooks = HookRegistry::new();
    let fails = on::<Opened>().name("fails").on_failure(FailurePolicy::Closed);
    hooks.register(fails.handler(|_: &OpenedPayload| Err::<(), _>("stuck"))).unwrap();
    let error = hooks.spawn_void::<Opened>(opened(1)).await.unwrap_err();
    assert_eq!(error.to_string(), "handler `fails` (built-in) at `opened`: stuck");

    let (hooks, _, ended) = gated();
    let fire = hooks.spawn_void::<Opened>(opened(1));
    tokio::task::yield_now().await;
    fire.abort();
    assert!(matches!(fire.await, Err(FireError::Cancelled)));
    hooks.settled().await.unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 0);
}

/// All laws hold for it: a plugin's removal waits for its calls in the background.
#[tokio::test]
async fn l19_a_removal_waits_for_calls_in_the_background() {
    let hooks = HookRegistry::new();
    let permits = Arc::new(Semaphore::new(0));
    let waits = async |permits: &Arc<Semaphore>, _: &OpenedPayload| {
        permits.acquire().await.unwrap().forget();
    };
    hooks.register(on::<Opened>().plugin("shop").handler_with(permits.clone(), waits)).unwrap();
    hooks.spawn_void::<Opened>(opened(1));
    tokio::task::yield_now().await;
    let mut removal = std::pin::pin!(hooks.unregister_plugin("shop").into_future());
    assert!(futures::poll!(&mut removal).is_pending());
    permits.add_permits(1);
    removal.await;
    assert_eq!(Arc::strong_count(&permits), 1);
}

pub struct Payload;

impl Drop for Payload {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

hook_points! {
    pub void Hostile(Payload);
}

#[tokio::test]
async fn l12_a_payload_that_panics_in_its_drop_is_contained() {
    let hooks = HookRegistry::new();
    hooks.spawn_void::<Hostile>(Payload).await.unwrap();
    hooks.register(on::<Hostile>().handler(|_: &Payload| ())).unwrap();
    hooks.spawn_void::<Hostile>(Payload).await.unwrap();
    hooks.settled().await.unwrap();
}

#[test]
fn l12_a_payload_without_a_runtime_is_dropped_with_care() {
    let hooks = HookRegistry::new();
    hooks.register(on::<Hostile>().handler(|_: &Payload| ())).unwrap();
    assert!(hooks.spawn_void::<Hostile>(Payload).is_finished());
}
