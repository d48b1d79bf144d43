//! How deep fires may be nested (L26): counted for each registry, fires of
//! observers included.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::FutureExt;
use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use hooks_runtime::report::HandlerStatus;
use hooks_runtime::{FireError, HookRegistry, hook_points, on};

hook_points! {
    /// A knock.
    pub void Knock(u32);
    /// An echo.
    pub void Echo(u32);
}

/// Which event makes the observer fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    FireStarted,
    FireEnded,
    HandlerStarted,
    HandlerEnded,
    PollStarted,
    PollEnded,
}

/// Fires `Knock` whenever that happens.
#[derive(Debug)]
struct Fires {
    when: When,
    hooks: Arc<OnceLock<HookRegistry>>,
    fires: Arc<AtomicUsize>,
    refused: Arc<Mutex<Vec<String>>>,
}

impl Fires {
    fn at(&self, when: When) {
        let Some(hooks) = self.hooks.get().filter(|_| when == self.when) else { return };
        self.fires.fetch_add(1, Ordering::SeqCst);
        let fired = hooks.fire_void::<Knock>(&1).now_or_never().expect("its handlers are ready");
        if let Err(error) = fired {
            assert!(matches!(error, FireError::Nesting(_)), "{error}");
            self.refused.lock().unwrap().push(error.to_string());
        }
    }
}

impl Observer for Fires {
    fn fire_started(&self, _: &ObservedFire) {
        self.at(When::FireStarted);
    }

    fn fire_ended(&self, _: &ObservedFire, _: &FireEnd<'_>, _: Duration) {
        self.at(When::FireEnded);
    }

    fn handler_started(&self, _: &ObservedCall<'_>) {
        self.at(When::HandlerStarted);
    }

    fn handler_ended(&self, _: &ObservedCall<'_>, _: &HandlerStatus, _: Duration) {
        self.at(When::HandlerEnded);
    }

    fn poll_started(&self, _: &ObservedCall<'_>) {
        self.at(When::PollStarted);
    }

    fn poll_ended(&self, _: &ObservedCall<'_>) {
        self.at(When::PollEnded);
    }
}

#[test]
fn l26_the_fires_of_an_observer_count() {
    for when in [
        When::FireStarted,
        When::FireEnded,
        When::HandlerStarted,
        When::HandlerEnded,
        When::PollStarted,
        When::PollEnded,
    ] {
        let known = Arc::new(OnceLock::new());
        let (fires, refused) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let observer = Fires {
            when,
            hooks: Arc::clone(&known),
            fires: Arc::clone(&fires),
            refused: Arc::clone(&refused),
        };
        let hooks = HookRegistry::builder().observer(observer).max_depth(4).build();
        hooks.register(on::<Knock>().name("hears").handler(|_: &u32| ())).unwrap();
        known.set(hooks.clone()).unwrap();
        hooks.fire_void::<Knock>(&1).now_or_never().unwrap().unwrap();
        // Three levels below the fire itself, and one more that is refused.
        assert_eq!(fires.load(Ordering::SeqCst), 4, "{when:?}");
        let text = "fires are nested deeper than 4: knock > knock > knock > knock > knock; end \
                    the recursion, or raise `max_depth` of the builder";
        assert_eq!(*refused.lock().unwrap(), [text], "{when:?}");
        assert_eq!(hooks.handlers_at::<Knock>()[0].calls, 4, "{when:?}");
    }
}

#[tokio::test]
async fn l26_each_registry_counts_its_own_fires() {
    let (outer, inner) = (
        HookRegistry::builder().max_depth(2).build(),
        HookRegistry::builder().max_depth(1).build(),
    );
    let calls = Arc::new(AtomicUsize::new(0));
    let (fires, called) = (inner.clone(), Arc::clone(&calls));
    inner.register(on::<Echo>().handler(|_: &u32| ())).unwrap();
    let echoes = async |(hooks, calls): &(HookRegistry, Arc<AtomicUsize>), _: &u32| {
        hooks.fire_void::<Echo>(&1).await?;
        calls.fetch_add(1, Ordering::SeqCst);
        Ok::<_, FireError>(())
    };
    let closed = hooks_runtime::FailurePolicy::Closed;
    let echoes = on::<Knock>().on_failure(closed).handler_with((fires, called), echoes);
    outer.register(echoes).unwrap();
    let again = async |hooks: &HookRegistry, n: &u32| match n {
        0 => Ok(()),
        n => hooks.fire_void::<Echo>(&(n - 1)).await,
    };
    let again = on::<Echo>().on_failure(closed).handler_with(outer.clone(), again);
    outer.register(again).unwrap();
    let knock = async |hooks: &HookRegistry, _: &u32| hooks.fire_void::<Knock>(&1).await;
    let knock = on::<Echo>().on_failure(closed).handler_with(outer.clone(), knock);
    let knocks = outer.register(knock).unwrap();
    // Two of the one registry, then one of the other: as deep as each allows.
    outer.fire_void::<Echo>(&0).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    knocks.unregister();
    // The refused one names the fires of its own registry only.
    let error = outer.fire_void::<Echo>(&2).await.unwrap_err();
    let chain = "fires are nested deeper than 2: echo > echo > echo; end the recursion, or raise \
                 `max_depth` of the builder";
    assert!(error.to_string().ends_with(chain), "{error}");
}

#[tokio::test]
async fn l26_registries_beyond_counting_still_count_their_own() {
    // Deeper in all than one registry may ever be: 5 times 30.
    let registries: Vec<_> =
        (0..5).map(|_| HookRegistry::builder().max_depth(30).build()).collect();
    let deepest = Arc::new(AtomicUsize::new(0));
    type Shared = (Vec<HookRegistry>, Arc<AtomicUsize>);
    fn down(shared: Arc<Shared>, n: u32) -> futures::future::BoxFuture<'static, ()> {
        async move {
            let (registries, deepest) = &*shared;
            deepest.fetch_max(n as usize, Ordering::SeqCst);
            let next = &registries[n as usize % registries.len()];
            let _refused = next.fire_void::<Knock>(&(n + 1)).await;
        }
        .boxed()
    }
    let shared: Arc<Shared> = Arc::new((registries, Arc::clone(&deepest)));
    for hooks in &shared.0 {
        let shared = Arc::clone(&shared);
        hooks
            .register(on::<Knock>().handler(move |n: &u32| down(Arc::clone(&shared), *n)))
            .unwrap();
    }
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn({
        let shared = Arc::clone(&shared);
        move || futures::executor::block_on(down(shared, 0))
    });
    run.unwrap().join().unwrap();
    assert_eq!(deepest.load(Ordering::SeqCst), 150);
}
