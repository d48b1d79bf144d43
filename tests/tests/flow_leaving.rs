//! A plugin that leaves while runs of a flow are under way (L19): where it has
//! begun it can close what it opened, and nothing of it is left after the wait.

mod support;

use std::future::{Future, IntoFuture, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hooks_runtime::flow::{FlowReport, StageKind};
use hooks_runtime::plugin::DrainError;
use hooks_runtime::report::{HandlerStatus, SkipReason};
use hooks_runtime::{
    AfterExecute, BeforeExecute, BeforeValidation, Finally, FlowContext, HookRegistry, OnError,
    Registration, hook_handlers, hook_points, on,
};
use support::{Count, CountsDrop, Log, OnDrop, drained, keep_quiet, poll_once, soon};
use tokio::sync::Notify;
use tokio::time::Instant;

hook_points! {
    /// One delivery, stage by stage.
    #[hook(name = "yard:deliver")]
    pub flow Deliver(u32) -> u32;
    /// A lorry turns.
    pub void Turn(u32);
}

type Run<'r> = Pin<Box<dyn Future<Output = Result<u32, String>> + Send + 'r>>;

/// A run whose operation waits, and then answers or fails.
fn run<'r>(hooks: &'r HookRegistry, goes_on: &'r Notify, fails: bool) -> Run<'r> {
    Box::pin(async move {
        let operation = async |n: u32| {
            goes_on.notified().await;
            if fails { Err("out of petrol".to_owned()) } else { Ok(n + 1) }
        };
        hooks.run_flow::<Deliver, _>(1, operation).await.map_err(|error| error.to_string())
    })
}

/// The future's output, which is there by a wake and not by a later look.
async fn promptly<F: Future>(future: F) -> F::Output {
    let since = Instant::now();
    let output = soon(future).await;
    assert_eq!(since.elapsed(), Duration::ZERO);
    output
}

/// Notes its calls.
fn porter(log: &Log) -> Vec<Registration> {
    let note = |what: &'static str| {
        let log = log.clone();
        move |_: &mut FlowContext<Deliver>| log.push(what)
    };
    vec![
        on::<BeforeExecute<Deliver>>().plugin("porter").name("opens").handler(note("opens")),
        on::<AfterExecute<Deliver>>().plugin("porter").name("after").handler(note("after")),
        on::<OnError<Deliver>>().plugin("porter").name("failed").handler(note("failed")),
        on::<Finally<Deliver>>().plugin("porter").name("closes").handler(note("closes")),
    ]
}

#[tokio::test(start_paused = true)]
async fn l19_a_run_in_which_it_has_begun_still_gives_a_plugin_its_end() {
    for (fails, expected) in [(false, &["closes"][..]), (true, &["failed", "closes"])] {
        let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
        hooks.register(porter(&log)).unwrap();
        let mut run = run(&hooks, &goes_on, fails);
        assert!(poll_once(run.as_mut()).is_pending());
        assert_eq!(log.take(), ["opens"]);
        let removal = hooks.unregister_plugin("porter");
        assert_eq!((removal.removed(), removal.running()), (4, vec![]));
        // The end of the run wakes the wait.
        let ended = async {
            goes_on.notify_one();
            run.await.is_err()
        };
        let waited = tokio::join!(promptly(drained(&removal)), ended);
        assert_eq!(waited, (Ok(()), fails));
        assert_eq!(log.take(), expected, "and no other stage");
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_run_in_which_it_has_not_begun_gives_it_nothing() {
    for fails in [false, true] {
        let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
        hooks.register(porter(&log).split_off(1)).unwrap();
        let mut run = run(&hooks, &goes_on, fails);
        assert!(poll_once(run.as_mut()).is_pending());
        // Not waited for either.
        assert_eq!(soon(drained(&hooks.unregister_plugin("porter"))).await, Ok(()));
        goes_on.notify_one();
        assert_eq!(run.await.is_err(), fails);
        assert_eq!(log.take(), [""; 0]);
    }
}

/// What the report says of the plugin's handlers.
fn told(report: &FlowReport) -> Vec<(Option<StageKind>, bool)> {
    let stages = report.stages().iter();
    stages
        .flat_map(|stage| {
            let gone = HandlerStatus::Filtered(SkipReason::Unregistered);
            stage.handlers().iter().map(move |row| (stage.stage(), *row.status() != gone))
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn l19_the_report_says_what_a_plugin_that_left_was_given() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register(porter(&log)).unwrap();
    let leaves = async |n: u32| {
        hooks.unregister_plugin("porter");
        Ok::<_, String>(n)
    };
    let (outcome, report) = hooks.flow::<Deliver>().run_reported(1, leaves).await;
    assert_eq!(outcome.unwrap(), 1);
    let expected = [
        (Some(StageKind::BeforeExecute), true),
        (Some(StageKind::AfterExecute), false),
        (Some(StageKind::Finally), true),
    ];
    assert_eq!(told(&report), expected);
}

/// Removed in the middle of the last stage, by a handler before its own.
#[tokio::test(start_paused = true)]
async fn l19_a_plugin_that_leaves_in_the_last_stage_is_given_that_stage() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    hooks.register(porter(&log)).unwrap();
    let leaves = |hooks: &HookRegistry, _: &mut FlowContext<Deliver>| {
        hooks.unregister_plugin("porter");
    };
    hooks
        .register(on::<Finally<Deliver>>().priority(-1).handler_with(hooks.clone(), leaves))
        .unwrap();
    let ran = hooks.run_flow::<Deliver, _>(1, async |n| Ok::<_, String>(n)).await;
    assert_eq!(ran.unwrap(), 1);
    assert_eq!(log.take(), ["opens", "after", "closes"]);
}

#[tokio::test(start_paused = true)]
async fn l17_a_handler_that_is_removed_by_its_handle_is_not_given_the_end() {
    let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
    let handles = hooks.register(porter(&log)).unwrap();
    let mut run = run(&hooks, &goes_on, true);
    assert!(poll_once(run.as_mut()).is_pending());
    assert_eq!(handles[3].unregister().removed(), 1);
    // The plugin leaves after it: that one is removed already.
    let removal = hooks.unregister_plugin("porter");
    goes_on.notify_one();
    assert!(run.await.is_err());
    assert_eq!(log.take(), ["opens", "failed"]);
    assert_eq!(soon(drained(&removal)).await, Ok(()));
}

/// A block of built-in handlers leaves as a plugin does.
struct Gate(Log);

#[hook_handlers]
impl Gate {
    #[hook_handler(BeforeValidation<Deliver>)]
    fn open(&self, _: &mut FlowContext<Deliver>) {
        self.0.push("opens");
    }

    #[hook_handler(AfterExecute<Deliver>)]
    fn after(&self, _: &mut FlowContext<Deliver>) {
        self.0.push("after");
    }

    #[hook_handler(Finally<Deliver>)]
    fn close(&self, _: &mut FlowContext<Deliver>) {
        self.0.push("closes");
    }
}

#[tokio::test(start_paused = true)]
async fn l19_a_built_in_block_is_given_its_end_too() {
    let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
    let gate = hooks.install(Gate(log.clone())).unwrap();
    let mut run = run(&hooks, &goes_on, false);
    assert!(poll_once(run.as_mut()).is_pending());
    let mut leaving = Box::pin(gate.uninstall().into_future());
    assert!(poll_once(leaving.as_mut()).is_pending());
    goes_on.notify_one();
    assert_eq!(run.await, Ok(2));
    assert_eq!(log.take(), ["opens", "closes"]);
    assert_eq!(soon(leaving).await.into_result(), Ok(()));
}

/// Puts a value into the state of its runs.
struct Keeper {
    kept: Count,
    own: CountsDrop,
}

#[hook_handlers(plugin = "keeper")]
impl Keeper {
    #[hook_handler(BeforeExecute<Deliver>)]
    fn keep(&self, flow: &mut FlowContext<Deliver>) {
        let _this = &self.own;
        flow.state_mut().insert(self.kept.on_drop());
    }
}

#[tokio::test(start_paused = true)]
async fn l19_what_it_put_into_a_run_is_dropped_before_the_wait_ends() {
    let (hooks, goes_on) = (HookRegistry::new(), Notify::new());
    let (kept, own) = (Count::default(), Count::default());
    // Of another owner, and never ends: it is not waited for.
    let endless = async |_: &u32| pending::<()>().await;
    hooks.register(on::<Turn>().handler(endless)).unwrap();
    let mut other = Box::pin(hooks.fire_void::<Turn>(&1));
    assert!(poll_once(other.as_mut()).is_pending());
    let keeper = hooks.install(Keeper { kept: kept.clone(), own: own.on_drop() }).unwrap();
    let mut run = run(&hooks, &goes_on, false);
    assert!(poll_once(run.as_mut()).is_pending());
    let mut leaving = Box::pin(keeper.uninstall().into_future());
    assert!(poll_once(leaving.as_mut()).is_pending());
    // No handler of it is called any more, so its value has gone.
    assert_eq!((kept.get(), own.get()), (0, 1));
    goes_on.notify_one();
    // The wait ends with the poll of the run in which the state is dropped.
    assert!(poll_once(run.as_mut()).is_ready());
    assert_eq!(kept.get(), 1);
    assert!(poll_once(leaving.as_mut()).is_ready());
    assert_eq!(own.get(), 1, "once");
}

/// Runs that know the plugin's handlers, in which it has not begun, give it nothing
/// and hold up neither the wait nor the drop of what they captured.
#[tokio::test(start_paused = true)]
async fn l19_other_runs_that_know_its_handlers_give_it_nothing_and_are_not_waited_for() {
    let (hooks, log, captured) = (HookRegistry::new(), Log::new(), Count::default());
    let closes = |(log, _): &(Log, CountsDrop), _: &mut FlowContext<Deliver>| log.push("closes");
    let closes = on::<Finally<Deliver>>()
        .plugin("porter")
        .name("closes")
        .handler_with((log.clone(), captured.on_drop()), closes);
    let mut handlers = porter(&log);
    let _replaced = std::mem::replace(&mut handlers[3], closes);
    hooks.register(handlers).unwrap();
    let begins = Arc::new(Notify::new());
    let stalls = async |begins: &Arc<Notify>, _: &mut FlowContext<Deliver>| {
        begins.notified().await;
    };
    let stalls = on::<BeforeValidation<Deliver>>().handler_with(Arc::clone(&begins), stalls);
    hooks.register(stalls).unwrap();
    let goes_on: [_; 3] = std::array::from_fn(|_| Notify::new());
    let [mut begun, mut ends, mut stays] = goes_on.each_ref().map(|it| run(&hooks, it, false));
    begins.notify_one();
    for run in [&mut begun, &mut ends, &mut stays] {
        assert!(poll_once(run.as_mut()).is_pending());
    }
    assert_eq!(log.take(), ["opens"], "it has begun in the first");
    let removal = hooks.unregister_plugin("porter");
    assert!(poll_once(Box::pin(drained(&removal)).as_mut()).is_pending());
    // The second ends, and the third comes to its operation.
    goes_on[1].notify_one();
    begins.notify_one();
    assert!(poll_once(ends.as_mut()).is_ready());
    begins.notify_one();
    assert!(poll_once(stays.as_mut()).is_pending());
    assert_eq!((log.take(), captured.get()), (vec![], 0));
    goes_on[0].notify_one();
    assert_eq!(begun.await, Ok(2));
    assert_eq!((log.take(), captured.get()), (vec!["closes".to_owned()], 1));
    assert_eq!(soon(drained(&removal)).await, Ok(()));
    goes_on[2].notify_one();
    assert_eq!(stays.await, Ok(2));
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn l19_a_run_that_is_dropped_has_ended() {
    let (hooks, goes_on, log) = (HookRegistry::new(), Notify::new(), Log::new());
    let (kept, own) = (Count::default(), Count::default());
    hooks.register(porter(&log)).unwrap();
    let keeper = hooks.install(Keeper { kept: kept.clone(), own: own.on_drop() }).unwrap();
    let mut run = run(&hooks, &goes_on, false);
    assert!(poll_once(run.as_mut()).is_pending());
    let porter = hooks.unregister_plugin("porter");
    let mut leaving = Box::pin(keeper.uninstall().into_future());
    assert!(poll_once(leaving.as_mut()).is_pending());
    assert!(poll_once(Box::pin(drained(&porter)).as_mut()).is_pending());
    drop(run);
    assert_eq!(kept.get(), 1);
    assert!(poll_once(leaving.as_mut()).is_ready());
    assert!(poll_once(Box::pin(drained(&porter)).as_mut()).is_ready());
    assert_eq!((log.take(), own.get()), (vec!["opens".to_owned()], 1), "no finally");
}

#[tokio::test(start_paused = true)]
async fn l19_all_runs_in_which_it_has_begun_are_waited_for() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let goes_on: [_; 3] = std::array::from_fn(|_| Notify::new());
    hooks.register(porter(&log)).unwrap();
    let mut runs: Vec<_> = goes_on.iter().map(|goes_on| run(&hooks, goes_on, false)).collect();
    runs.iter_mut().for_each(|run| assert!(poll_once(run.as_mut()).is_pending()));
    let removal = hooks.unregister_plugin("porter");
    let mut drained = Box::pin(drained(&removal));
    // One ends, one is dropped, one ends.
    goes_on[1].notify_one();
    assert_eq!(runs.remove(1).await, Ok(2));
    assert!(poll_once(drained.as_mut()).is_pending());
    drop(runs.remove(0));
    assert!(poll_once(drained.as_mut()).is_pending());
    goes_on[2].notify_one();
    assert_eq!(runs.remove(0).await, Ok(2));
    assert!(poll_once(drained.as_mut()).is_ready());
    assert_eq!(log.take(), ["opens", "opens", "opens", "closes", "closes"]);
}

#[tokio::test(start_paused = true)]
async fn l19_a_deadline_that_passes_names_the_runs_that_are_under_way() {
    let (hooks, log, never) = (HookRegistry::new(), Log::new(), Notify::new());
    let stall = Arc::new(Notify::new());
    let turns = async |stall: &Arc<Notify>, _: &u32| stall.notified().await;
    hooks.register(porter(&log)).unwrap();
    let turns = on::<Turn>().plugin("porter").name("turns").handler_with(Arc::clone(&stall), turns);
    hooks.register(turns).unwrap();
    let mut runs = [run(&hooks, &never, false), run(&hooks, &never, true)];
    runs.iter_mut().for_each(|run| assert!(poll_once(run.as_mut()).is_pending()));
    let mut turn = Box::pin(hooks.fire_void::<Turn>(&1));
    assert!(poll_once(turn.as_mut()).is_pending());
    let removal = hooks.unregister_plugin("porter");
    let within = || soon(removal.within(Duration::from_secs(3)));

    let left = within().await.unwrap_err();
    let text = "plugin `porter` has handlers running after 3s: turns, 2 runs of yard:deliver; \
                wait again, or longer";
    assert_eq!(left.to_string(), text);
    stall.notify_one();
    turn.await.unwrap();
    let [one, other] = runs;
    drop(one);
    let left = within().await.unwrap_err();
    let text = "plugin `porter` has runs under way after 3s: a run of yard:deliver; wait again, \
                or longer";
    assert_eq!(left.to_string(), text);
    assert!(matches!(left, DrainError::StillRunning { running, runs: 1, .. }
            if running == ["a run of yard:deliver"]));
    drop(other);
    assert_eq!(within().await, Ok(()));
}

/// All values are dropped, also where the drop of some of them panics, and the
/// wait ends.
#[tokio::test(start_paused = true)]
async fn l19_a_state_whose_drop_panics_holds_up_nothing() {
    struct First(#[allow(dead_code)] OnDrop<fn()>);
    struct Second(#[allow(dead_code)] OnDrop<fn()>);
    keep_quiet(&["a sharp edge"]);
    for dropped in [false, true] {
        let (hooks, goes_on, kept) = (HookRegistry::new(), Notify::new(), Count::default());
        let puts = |kept: &Count, flow: &mut FlowContext<Deliver>| {
            flow.state_mut().insert(First(OnDrop(|| panic!("a sharp edge"))));
            flow.state_mut().insert(kept.on_drop());
            flow.state_mut().insert(Second(OnDrop(|| panic!("a sharp edge"))));
        };
        let puts = on::<BeforeExecute<Deliver>>().plugin("sharp").handler_with(kept.clone(), puts);
        hooks.register(puts).unwrap();
        let mut run = run(&hooks, &goes_on, false);
        assert!(poll_once(run.as_mut()).is_pending());
        let removal = hooks.unregister_plugin("sharp");
        if dropped {
            assert!(poll_once(Box::pin(drained(&removal)).as_mut()).is_pending());
            drop(run);
            assert_eq!(soon(drained(&removal)).await, Ok(()));
        } else {
            let ended = async {
                goes_on.notify_one();
                run.await
            };
            assert_eq!(tokio::join!(promptly(drained(&removal)), ended), (Ok(()), Ok(2)));
        }
        assert_eq!(kept.get(), 1, "dropped: {dropped}");
    }
}

/// Says which version it is.
struct Version(&'static str, Log);

#[hook_handlers(plugin = "versioned")]
impl Version {
    #[hook_handler(BeforeExecute<Deliver>)]
    fn open(&self, _: &mut FlowContext<Deliver>) {
        self.1.push(format!("{} opens", self.0));
    }

    #[hook_handler(AfterExecute<Deliver>)]
    fn after(&self, _: &mut FlowContext<Deliver>) {
        self.1.push(format!("{} after", self.0));
    }

    #[hook_handler(Finally<Deliver>)]
    fn close(&self, _: &mut FlowContext<Deliver>) {
        self.1.push(format!("{} closes", self.0));
    }
}

#[tokio::test(start_paused = true)]
async fn l19_of_two_versions_each_is_given_the_end_of_its_own_runs() {
    let (hooks, log) = (HookRegistry::new(), Log::new());
    let (first, second) = (Notify::new(), Notify::new());
    let old = hooks.install(Version("old", log.clone())).unwrap();
    let mut old_run = run(&hooks, &first, false);
    assert!(poll_once(old_run.as_mut()).is_pending());
    let new = hooks.install_or_replace(Version("new", log.clone())).unwrap();
    let mut new_run = run(&hooks, &second, false);
    assert!(poll_once(new_run.as_mut()).is_pending());
    let mut leaving = Box::pin(old.uninstall().into_future());
    assert!(poll_once(leaving.as_mut()).is_pending());
    first.notify_one();
    assert_eq!(old_run.await, Ok(2));
    assert_eq!(log.take(), ["old opens", "new opens", "old closes"]);
    // The runs of its successor are not waited for.
    assert_eq!(soon(leaving).await.into_result(), Ok(()));
    second.notify_one();
    assert_eq!(new_run.await, Ok(2));
    assert_eq!(log.take(), ["new after", "new closes"]);
    assert_eq!(soon(new.uninstall().into_future()).await.into_result(), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn l19_all_handlers_of_a_plugin_by_name_are_the_plugin() {
    let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
    hooks.register(porter(&log)).unwrap();
    let mut run = run(&hooks, &goes_on, false);
    assert!(poll_once(run.as_mut()).is_pending());
    let removal = hooks.unregister_handler("porter/*");
    assert_eq!(removal.removed(), 4);
    assert!(!hooks.is_installed("porter"));
    let mut wait = (&removal).into_future();
    assert!(poll_once(wait.as_mut()).is_pending(), "it has begun in a run");
    goes_on.notify_one();
    run.await.unwrap();
    promptly(wait).await.into_result().unwrap();
    assert_eq!(log.take(), ["opens", "closes"]);
}
