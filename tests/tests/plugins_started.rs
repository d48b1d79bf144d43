//! The life of a plugin: `#[start]` before its first handler, `#[stop]` after its
//! last call (L18, L19), and no failure of either is silent (L20).
// The bare statements below are how users write them.
#![deny(unused_must_use)]

mod support;

use std::error::Error as _;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hooks_runtime::observe::Observer;
use hooks_runtime::plugin::{DrainError, DrainOutcome, Removal, StartError, StopFailure};
use hooks_runtime::{AnyPlugin, HookRegistry, PluginId, hook_handlers, hook_points, on};
use support::{Count, CountsDrop, Log, keep_quiet, poll_once, soon};
use tokio::sync::Notify;

hook_points! {
    /// A page was saved.
    pub void Saved { page: u32 }
}

const SAVED: SavedPayload = SavedPayload { page: 1 };

/// What a step of a plugin's life comes to.
#[derive(Clone, Copy, PartialEq)]
enum Comes {
    Well,
    Fails,
    Panics,
    Hangs,
}

/// What each test plugin has.
struct Body {
    name: &'static str,
    log: Log,
    start: Comes,
    stop: Comes,
    /// A call of its handler waits for this, if there is one.
    gate: Option<Arc<Notify>>,
    _held: CountsDrop,
}

impl Body {
    fn new(name: &'static str, log: &Log, dropped: &Count) -> Self {
        let (start, stop) = (Comes::Well, Comes::Well);
        Self { name, log: log.clone(), start, stop, gate: None, _held: dropped.on_drop() }
    }

    async fn step(&self, step: &str, comes: Comes) -> Result<(), String> {
        self.log.push(format!("{} {step}s", self.name));
        tokio::task::yield_now().await;
        match comes {
            Comes::Well => self.log.push(format!("{} {step} done", self.name)),
            Comes::Fails => return Err(format!("no {step}\nfor {}", self.name)),
            Comes::Panics => panic!("{step} panics"),
            Comes::Hangs => std::future::pending().await,
        }
        Ok(())
    }

    async fn called(&self) {
        self.log.push(format!("{} called", self.name));
        if let Some(gate) = &self.gate {
            gate.notified().await;
            self.log.push(format!("{} returns", self.name));
        }
    }
}

struct One(Body);

#[hook_handlers(plugin = "one")]
impl One {
    #[start]
    async fn open(&self) -> Result<(), String> {
        self.0.step("start", self.0.start).await
    }

    #[hook_handler(Saved)]
    async fn saved(&self, _: &SavedPayload) {
        self.0.called().await;
    }

    #[stop]
    async fn close(&self) -> Result<(), String> {
        self.0.step("stop", self.0.stop).await
    }
}

struct Two(Body);

#[hook_handlers(plugin = "two")]
impl Two {
    #[stop]
    async fn close(&self) -> Result<(), String> {
        self.0.step("stop", self.0.stop).await
    }

    #[start]
    async fn open(&self) -> Result<(), String> {
        self.0.step("start", self.0.start).await
    }

    #[hook_handler(Saved)]
    async fn saved(&self, _: &SavedPayload) {
        self.0.called().await;
    }
}

/// Neither starts nor waits: its stop is a plain function without a result.
struct Plain(Log);

#[hook_handlers(plugin = "plain")]
impl Plain {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}

    #[stop]
    fn ends(&self) {
        self.0.push("plain stops");
    }
}

/// Notes what it is told of stops.
#[derive(Debug)]
struct Watching(Log);

impl Observer for Watching {
    fn stop_failed(&self, plugin: &PluginId, failure: &StopFailure) {
        self.0.push(format!("{plugin}: {} ({failure})", failure.as_str()));
    }

    fn logs_failures(&self) -> bool {
        false
    }
}

fn watched(log: &Log) -> HookRegistry {
    HookRegistry::builder().observer(Watching(log.clone())).build()
}

fn world() -> (HookRegistry, Log, Count) {
    let log = Log::new();
    (watched(&log), log, Count::default())
}

const SKIPPED: &str = "one: skipped (it was skipped, because only an awaited removal runs it, and none did: await the \
     `uninstall` of the plugin)";

fn drained(removal: &Removal) -> Poll<Result<(), DrainError>> {
    poll_once(removal.into_future().as_mut()).map(DrainOutcome::into_result)
}

#[tokio::test]
async fn l18_a_plugin_starts_before_its_first_handler_and_stops_after_its_last_call() {
    let (hooks, log, dropped) = world();
    let mut starting = Box::pin(hooks.start(One(Body::new("one", &log, &dropped))));
    assert!(poll_once(starting.as_mut()).is_pending());
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    assert_eq!(log.take(), ["one starts"], "it has no handlers yet");
    assert!(!hooks.is_installed("one"));
    let one = starting.await.unwrap();
    let [info] = &hooks.plugins()[..] else { panic!("one plugin") };
    assert_eq!((info.has_start, info.has_stop, info.handlers), (true, true, 1));
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    assert_eq!(log.take(), ["one start done", "one called"]);
    assert_eq!(dropped.get(), 0);
    one.uninstall().await;
    assert_eq!(log.take(), ["one stops", "one stop done"]);
    assert_eq!(dropped.get(), 1, "and its value is dropped");
}

#[tokio::test(start_paused = true)]
async fn l19_a_stop_waits_for_the_last_call_and_runs_once() {
    let (hooks, log, dropped) = world();
    let gate = Arc::new(Notify::new());
    let body = Body { gate: Some(Arc::clone(&gate)), ..Body::new("one", &log, &dropped) };
    let one = hooks.start(One(body)).await.unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Saved>(&SAVED));
    assert!(poll_once(firing.as_mut()).is_pending());
    log.take();
    let first = one.uninstall();
    // A second removal, by another way, waits for the same call and the same stop.
    let second = hooks.unregister_plugin("one");
    assert_eq!((first.removed(), second.removed()), (1, 0));
    assert!(drained(&first).is_pending() && drained(&second).is_pending());
    gate.notify_one();
    soon(firing).await.unwrap();
    assert_eq!(log.take(), ["one returns"]);
    let mut running = (&second).into_future();
    assert!(poll_once(running.as_mut()).is_pending());
    assert_eq!(log.take(), ["one stops"], "the first to wait runs it");
    // The other goes on with what that one has begun.
    drop(running);
    let waiting = (&first).into_future();
    assert!(soon(waiting).await.is_drained());
    assert_eq!(log.take(), ["one stop done"]);
    assert!(soon((&second).into_future()).await.is_drained());
    assert_eq!(log.take(), [""; 0], "it ran once");
    drop((first, second));
    assert_eq!(log.take(), [""; 0], "nothing is skipped");
}

#[tokio::test]
async fn l18_install_refuses_a_plugin_with_a_start_and_takes_one_with_a_stop() {
    let (hooks, log, dropped) = world();
    let needs_start = "plugin `one` has a `#[start]`, which is not run here: use \
                       `hooks.start(plugin).await` or `hooks.start_all(plugins).await`";
    let one = || One(Body::new("one", &log, &dropped));
    assert_eq!(hooks.install(one()).unwrap_err().to_string(), needs_start);
    assert_eq!(hooks.install_or_replace(one()).unwrap_err().to_string(), needs_start);
    let group: Vec<Box<dyn AnyPlugin>> = vec![Box::new(Plain(log.clone())), Box::new(one())];
    assert_eq!(hooks.install_all(group).unwrap_err().to_string(), needs_start);
    assert!(hooks.plugins().is_empty());
    assert_eq!(log.take(), [""; 0], "neither started nor stopped");

    let plain = hooks.install(Plain(log.clone())).unwrap();
    assert_eq!(
        hooks.install_or_replace(Plain(log.clone())).unwrap_err().to_string(),
        "plugin `plain` has a `#[stop]`, which a replacement does not run: uninstall it first, \
         with `uninstall().await` or `unregister_plugin(\"plain\").await`"
    );
    assert_eq!(log.take(), [""; 0], "a plugin that was never there has nothing to stop");
    plain.uninstall().await.into_result().unwrap();
    assert_eq!(log.take(), ["plain stops"]);
    // What has neither is started like anything else.
    hooks.start(Plain(log.clone())).await.unwrap().uninstall().await;
    assert_eq!(log.take(), ["plain stops"]);
    let registrar = hooks.registrar("one").unwrap();
    let refused = registrar.start(Plain(log.clone())).await.unwrap_err();
    assert!(matches!(refused, StartError::Refused(_)), "{refused}");
    registrar.start(one()).await.unwrap().uninstall().await;
}

#[tokio::test]
async fn l18_a_start_that_fails_registers_nothing_and_stops_those_before_it() {
    keep_quiet(&["start panics"]);
    for (comes, why) in
        [(Comes::Fails, "no start\\nfor two"), (Comes::Panics, "panicked: start panics")]
    {
        let (hooks, log, dropped) = world();
        let group: Vec<Box<dyn AnyPlugin>> = vec![
            Box::new(Plain(log.clone())),
            Box::new(One(Body::new("one", &log, &dropped))),
            Box::new(Two(Body { start: comes, ..Body::new("two", &log, &dropped) })),
        ];
        let error = hooks.start_all(group).await.unwrap_err();
        assert_eq!(error.to_string(), format!("plugin `two` did not start: {why}"));
        assert_eq!(error.source().is_some(), comes == Comes::Fails);
        assert!(hooks.plugins().is_empty());
        // The last one first, and not the one that failed.
        let expected = [
            "one starts",
            "one start done",
            "two starts",
            "one stops",
            "one stop done",
            "plain stops",
        ];
        assert_eq!(log.take(), expected);
        assert_eq!(dropped.get(), 2);
    }
}

#[tokio::test]
async fn l18_a_group_that_is_refused_after_its_start_is_stopped() {
    let (hooks, log, dropped) = world();
    hooks.set_quota("two", hooks_runtime::plugin::Quota::new().max_handlers(0)).unwrap();
    let group = || -> Vec<Box<dyn AnyPlugin>> {
        vec![
            Box::new(One(Body::new("one", &log, &dropped))),
            Box::new(Two(Body::new("two", &log, &dropped))),
        ]
    };
    let error = hooks.start_all(group()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "plugin `two` cannot be installed: `saved` of plugin `two` is refused at `saved`: it may \
         have at most 0 handlers; the host allows more with `set_quota`"
    );
    let stopped = ["two stops", "two stop done", "one stops", "one stop done"];
    assert_eq!(log.take()[4..], stopped);
    assert!(hooks.plugins().is_empty());
    // One whose id is taken does not start at all.
    hooks.register(on::<Saved>().plugin("two").handler(|_: &SavedPayload| ())).unwrap_err();
    hooks.set_quota("two", hooks_runtime::plugin::Quota::new()).unwrap();
    hooks.register(on::<Saved>().plugin("two").handler(|_: &SavedPayload| ())).unwrap();
    let error = hooks.start_all(group()).await.unwrap_err();
    assert!(matches!(
        error,
        StartError::Refused(hooks_runtime::RegisterError::Installed { plugin, .. }) if plugin == "two"
    ));
    assert_eq!(log.take(), [""; 0]);
}

/// No error advises what is refused by another error.
#[tokio::test]
async fn l18_where_a_replacement_is_refused_the_error_says_only_to_uninstall() {
    let (hooks, log, dropped) = world();
    let one = || One(Body::new("one", &log, &dropped));
    let only_remove = |plugin: &str| {
        format!(
            "plugin `{plugin}` has handlers here already: remove them first with \
             `uninstall().await` or `unregister_plugin(…).await`"
        )
    };
    let installed = hooks.start(one()).await.unwrap();
    assert_eq!(hooks.start(one()).await.unwrap_err().to_string(), only_remove("one"));
    assert_eq!(hooks.start_all([one()]).await.unwrap_err().to_string(), only_remove("one"));
    let registrar = hooks.registrar("one").unwrap();
    assert_eq!(registrar.start(one()).await.unwrap_err().to_string(), only_remove("one"));
    installed.uninstall().await;
    hooks.start(one()).await.unwrap();
    // The one that is installed has a stop, which a replacement does not run.
    hooks.install(Plain(log.clone())).unwrap();
    let plain = || Plain(log.clone());
    assert_eq!(hooks.install(plain()).unwrap_err().to_string(), only_remove("plain"));
    // A plugin without a start that comes by `start`.
    assert_eq!(hooks.start(plain()).await.unwrap_err().to_string(), only_remove("plain"));
    hooks.unregister_plugin("plain").await;
    hooks.register(on::<Saved>().plugin("plain").handler(|_: &SavedPayload| ())).unwrap();
    assert_eq!(hooks.start(plain()).await.unwrap_err().to_string(), only_remove("plain"));
    // Where a replacement helps, the error says so.
    assert_eq!(
        hooks.install(plain()).unwrap_err().to_string(),
        "plugin `plain` has handlers here already: remove them first with `uninstall` or \
         `unregister_plugin`, or use `install_or_replace`"
    );
    hooks.install_or_replace(plain()).unwrap();
}

/// The id is free from the removal on, so a stop and the next start can overlap.
#[tokio::test]
async fn l19_a_plugin_can_be_started_again_while_its_old_stop_still_runs() {
    let (hooks, log, dropped) = world();
    let one = || One(Body::new("one", &log, &dropped));
    let removal = hooks.start(one()).await.unwrap().uninstall();
    log.take();
    assert!(drained(&removal).is_pending());
    hooks.start(one()).await.unwrap();
    assert_eq!(log.take(), ["one stops", "one starts", "one start done"]);
    assert!((&removal).await.is_drained());
    assert_eq!(log.take(), ["one stop done"]);
    assert!(hooks.is_installed("one"));
}

/// Dropped at every point of its way, a start leaves nothing registered; what had
/// started by then is reported.
#[tokio::test]
async fn l25_a_start_that_is_dropped_leaves_nothing_behind() {
    for polls in 0.. {
        let (hooks, log, dropped) = world();
        let group: Vec<Box<dyn AnyPlugin>> = vec![
            Box::new(One(Body::new("one", &log, &dropped))),
            Box::new(Two(Body::new("two", &log, &dropped))),
        ];
        let mut starting = Box::pin(hooks.start_all(group));
        let ready = (0..polls).any(|_| poll_once(starting.as_mut()).is_ready());
        drop(starting);
        if ready {
            assert_eq!(polls, 3);
            assert_eq!(hooks.plugins().len(), 2);
            break;
        }
        assert!(hooks.plugins().is_empty() && hooks.handlers().is_empty());
        assert_eq!(dropped.get(), 2, "both values are dropped");
        let expected: &[&str] = match polls {
            0 => &[],
            1 => &["one starts"],
            _ => &["one starts", "one start done", "two starts", SKIPPED],
        };
        assert_eq!(log.take(), expected);
        // It can be started again.
        hooks.start(One(Body::new("one", &log, &dropped))).await.unwrap();
    }
}

#[tokio::test]
async fn l20_a_stop_that_is_skipped_is_reported() {
    let (hooks, log, dropped) = world();
    let one = || One(Body::new("one", &log, &dropped));
    // By every way to remove without a wait.
    let ways: [fn(&HookRegistry); 5] = [
        |hooks| drop(hooks.unregister_plugin("one")),
        |hooks| drop(hooks.unregister_handler("one/saved")),
        |hooks| drop(hooks.registrar("one").unwrap().unregister()),
        // A future that is never polled.
        |hooks| drop(hooks.unregister_plugin("one").into_future()),
        |hooks| drop(hooks.unregister_handler("one/*")),
    ];
    for way in ways {
        hooks.start(one()).await.unwrap();
        log.take();
        let before = dropped.get();
        way(&hooks);
        assert_eq!(log.take(), [SKIPPED]);
        assert_eq!(dropped.get(), before + 1);
    }
    // Awaited, the last handler of a plugin takes the stop with it.
    let installed = hooks.start(one()).await.unwrap();
    log.take();
    installed.handles()[0].unregister().await;
    assert_eq!(log.take(), ["one stops", "one stop done"]);
    drop(installed);
    // A registry that goes takes its plugins with it.
    hooks.start(one()).await.unwrap();
    log.take();
    drop(hooks);
    assert_eq!(log.take(), [SKIPPED]);
}

#[tokio::test]
async fn l20_a_stop_that_fails_is_reported_and_told() {
    keep_quiet(&["stop panics"]);
    for (comes, failure, text) in [
        (Comes::Fails, StopFailure::Error("no stop\nfor one".into()), "no stop\\nfor one"),
        (Comes::Panics, StopFailure::Panicked("stop panics".into()), "panicked: stop panics"),
    ] {
        let (hooks, log, dropped) = world();
        let body = Body { stop: comes, ..Body::new("one", &log, &dropped) };
        let one = hooks.start(One(body)).await.unwrap();
        log.take();
        let removal = one.uninstall();
        let outcome = (&removal).await;
        assert!(outcome.is_drained(), "nothing of it is left");
        assert_eq!((&removal).await, outcome, "each wait is told");
        let error = outcome.into_result().unwrap_err();
        assert_eq!(error.to_string(), format!("the `#[stop]` of plugin `one` failed: {text}"));
        assert!(matches!(error, DrainError::StopFailed { failure: told, .. } if told == failure));
        assert_eq!(log.take(), ["one stops", &format!("one: {} ({text})", failure.as_str())]);
        assert_eq!(dropped.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_deadline_bounds_a_stop_that_hangs() {
    let (hooks, log, dropped) = world();
    let body = Body { stop: Comes::Hangs, ..Body::new("one", &log, &dropped) };
    let one = hooks.start(One(body)).await.unwrap();
    log.take();
    let removal = one.uninstall();
    let since = tokio::time::Instant::now();
    let late = removal.within(Duration::from_secs(7)).await.unwrap_err();
    assert_eq!(since.elapsed(), Duration::from_secs(7));
    assert_eq!(
        late.to_string(),
        "plugin `one` has not stopped after 7s: its `#[stop]` has not ended; wait again, or \
         longer"
    );
    assert!(matches!(late, DrainError::StillStopping { .. }));
    assert_eq!(log.take(), ["one stops"]);
    // A later wait goes on with it, and says the same.
    let late = removal.within(Duration::from_secs(1)).await.unwrap_err();
    assert!(matches!(late, DrainError::StillStopping { .. }));
    assert_eq!((log.take().len(), dropped.get()), (0, 0));
    drop(removal);
    assert_eq!(
        log.take(),
        ["one: cancelled (it was dropped before its end: await the removal until it is ready)"]
    );
    assert_eq!(dropped.get(), 1, "it is dropped with the removal");
    // A deadline that passes while calls run leaves the stop for the next wait.
    let gate = Arc::new(Notify::new());
    let body = Body { gate: Some(Arc::clone(&gate)), ..Body::new("one", &log, &dropped) };
    let one = hooks.start(One(body)).await.unwrap();
    let mut firing = Box::pin(hooks.fire_void::<Saved>(&SAVED));
    assert!(poll_once(firing.as_mut()).is_pending());
    let removal = one.uninstall();
    let late = removal.within(Duration::from_secs(1)).await.unwrap_err();
    assert!(matches!(late, DrainError::StillRunning { .. }));
    gate.notify_one();
    soon(firing).await.unwrap();
    log.take();
    removal.within(Duration::from_secs(1)).await.unwrap();
    assert_eq!(log.take(), ["one stops", "one stop done"]);
}

/// Removes itself, from its handler and from its own stop.
struct Hermit(Log, Mutex<Option<HookRegistry>>);

impl Hermit {
    fn leave(&self) -> impl Future<Output = DrainOutcome> + use<> {
        let hooks = self.1.lock().unwrap().clone().unwrap();
        hooks.unregister_plugin("hermit").into_future()
    }
}

#[hook_handlers(plugin = "hermit")]
impl Hermit {
    #[hook_handler(Saved)]
    async fn leaves(&self, saved: &SavedPayload) {
        if saved.page == 1 {
            let refused = self.leave().await.into_result().unwrap_err();
            self.0.push(refused.to_string());
        }
    }

    #[stop]
    async fn waits_for_itself(&self) {
        tokio::task::yield_now().await;
        let refused = self.leave().await.into_result().unwrap_err();
        self.0.push(format!("stop: {refused}"));
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_plugin_that_removes_itself_is_not_waited_for_and_its_stop_is_skipped() {
    let (hooks, log, _) = world();
    let hermit = || Hermit(log.clone(), Mutex::new(Some(hooks.clone())));
    const ITSELF: &str = "plugin `hermit` cannot wait for itself: this is one of its own \
                          handlers; await the removal outside of them, or drop it";
    hooks.install(hermit()).unwrap();
    hooks.fire_void::<Saved>(&SAVED).await.unwrap();
    assert!(!hooks.is_installed("hermit"));
    let skipped = SKIPPED.replacen("one", "hermit", 1);
    assert_eq!(log.take(), [&*skipped, ITSELF]);
    // Its stop cannot wait for itself either.
    let installed = hooks.install(hermit()).unwrap();
    soon(installed.uninstall().into_future()).await.into_result().unwrap();
    assert_eq!(log.take(), [format!("stop: {ITSELF}")]);
}
