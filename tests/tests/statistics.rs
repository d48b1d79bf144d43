//! The observer `Statistics`: the numbers of each handler are those of the reports, the
//! observers and the registry, exactly (L20, L21, L22).

mod support;

use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use hooks_runtime::error::FailureCause;
use hooks_runtime::observe::{HandlerStatistics, ObservedCall, Observer, Statistics};
use hooks_runtime::registry::FailureCounts;
use hooks_runtime::report::{ContributionKind, HandlerStatus, SkipReason};
use hooks_runtime::{
    AfterExecute, BeforeExecute, FailurePolicy, Finally, FlowContext, HookRegistry, OnError,
    Plugins, Verdict, hook_points, on,
};
use serde_json::json;
use support::{keep_quiet, poll_once};

hook_points! {
    /// Tells.
    pub void Tell(u32);
    /// Amends.
    pub modifying Amend(u32) -> { title: String, footer: String }
    /// Routes.
    pub claiming Route(u32) -> u32;
    /// Checks.
    pub gating Check(u32);
    /// Makes.
    #[hook(name = "shop:make")]
    pub flow Make(u32) -> u32;
}

fn observed() -> (HookRegistry, Statistics) {
    let statistics = Statistics::new();
    (HookRegistry::builder().observer(statistics.clone()).build(), statistics)
}

fn of(statistics: &Statistics, target: &str) -> HandlerStatistics {
    statistics.handler(target).unwrap_or_else(|| panic!("{target} has a row"))
}

/// The kinds of decisions that were made, with their counts.
fn decisions(row: &HandlerStatistics) -> Vec<(&'static str, u64)> {
    assert_eq!(row.decisions.iter().count(), 12);
    let made = row.decisions.iter().filter(|(_, count)| *count > 0);
    made.map(|(kind, count)| (kind.as_str(), count)).collect()
}

/// The reasons for which it was skipped, with their counts.
fn skips(row: &HandlerStatistics) -> Vec<(&'static str, u64)> {
    assert_eq!(row.skips.iter().count(), 12);
    let skipped = row.skips.iter().filter(|(_, count)| *count > 0);
    skipped.map(|(reason, count)| (reason.as_str(), count)).collect()
}

fn causes(counts: FailureCounts) -> Vec<(&'static str, u64)> {
    let failed = counts.iter().filter(|(_, count)| *count > 0);
    failed.map(|(cause, count)| (cause.as_str(), count)).collect()
}

/// A call that was counted has one end, and each end but that of a dropped fire a time.
#[track_caller]
fn add_up(statistics: &Statistics) {
    for row in statistics.handlers() {
        let ended = row.decisions.total() + row.failures() + row.cancelled;
        assert_eq!(row.calls, ended + row.in_flight, "{row:?}");
        assert_eq!(row.latency.count(), row.decisions.total() + row.failures(), "{row:?}");
    }
}

#[tokio::test]
async fn l21_decisions_are_counted_by_kind_in_every_model() {
    let (hooks, statistics) = observed();
    hooks
        .register([
            on::<Tell>().name("hears").handler(|_: &u32| ()),
            on::<Amend>().name("titles").handler(|n: &u32| {
                (*n > 0).then(|| AmendResult { title: Some("t".into()), ..Default::default() })
            }),
            on::<Amend>().name("late").handler(|_: &u32| AmendResult {
                title: Some("too late, but for page 0".into()),
                ..Default::default()
            }),
            on::<Route>().name("takes").handler(|n: &u32| (*n > 1).then_some(7)),
            on::<Check>().name("edits").handler(|n: &u32| match n {
                0 => Verdict::Pass,
                n => Verdict::Replace(n * 10),
            }),
            on::<Check>()
                .name("small")
                .guard(|n: &u32| if *n < 20 { Verdict::Pass } else { Verdict::reject("large") }),
        ])
        .unwrap();
    for n in 0..3 {
        hooks.fire_void::<Tell>(&n).await.unwrap();
        let _ = hooks.fire_modifying::<Amend>(&n).await.unwrap();
        let _ = hooks.fire_claiming::<Route>(&n).await.unwrap();
        let _ = hooks.fire_gating::<Check>(n).await.unwrap();
    }
    let made = |target| decisions(&of(&statistics, target));
    assert_eq!(made("tell:hears"), [("nothing", 3)]);
    assert_eq!(made("amend:titles"), [("nothing", 1), ("fields", 2)]);
    // What sets only fields that were set already decides nothing.
    assert_eq!(made("amend:late"), [("nothing", 2), ("fields", 1)]);
    assert_eq!(made("route:takes"), [("nothing", 2), ("claimed", 1)]);
    assert_eq!(made("check:edits"), [("passed", 1), ("replaced", 2)]);
    assert_eq!(made("check:small"), [("passed", 2), ("rejected", 1)]);
    add_up(&statistics);
}

#[tokio::test]
async fn l21_decisions_of_stages_are_counted_by_kind() {
    let (hooks, statistics) = observed();
    hooks
        .register([
            on::<BeforeExecute<Make>>().name("first").handler(|flow: &mut FlowContext<Make>| {
                match flow.input().copied().unwrap_or(0) {
                    1 => {
                        flow.respond(10);
                    }
                    2 => flow.skip(),
                    3 => flow.abort("not three"),
                    _ => {}
                }
            }),
            on::<BeforeExecute<Make>>().name("second").handler(|flow: &mut FlowContext<Make>| {
                flow.recover(0);
                if flow.input() == Some(&1) {
                    flow.respond(20);
                }
            }),
            on::<OnError<Make>>().name("saves").handler(|flow: &mut FlowContext<Make>| {
                flow.recover(99);
            }),
        ])
        .unwrap();
    for n in 0..5 {
        let operation = async |n: u32| if n == 4 { Err("four") } else { Ok(n) };
        let _ = hooks.flow::<Make>().run(n, operation).await;
    }
    let made = |target| decisions(&of(&statistics, target));
    assert_eq!(
        made("shop:make/beforeExecute:first"),
        [("nothing", 2), ("answered", 1), ("skipped", 1), ("aborted", 1)]
    );
    let second = of(&statistics, "shop:make/beforeExecute:second");
    assert_eq!(decisions(&second), [("answer_refused", 1), ("recovery_refused", 2)]);
    assert_eq!(skips(&second), [("after_skip", 1), ("after_abort", 1)]);
    assert_eq!(made("shop:make/onError:saves"), [("recovered", 1), ("recovery_refused", 1)]);
    add_up(&statistics);
}

/// A rejection is a decision; a gate that ends because its handler failed is not.
#[tokio::test(start_paused = true)]
async fn l20_failures_are_counted_by_cause_and_apart_by_policy() {
    keep_quiet(&["out of paper"]);
    let (hooks, statistics) = observed();
    async fn fails(n: &u32) -> Result<Verdict<u32>, String> {
        match n {
            0 => Err("torn".to_owned()),
            1 => panic!("out of paper"),
            2 => pending().await,
            3 => Ok(Verdict::reject("three")),
            _ => Ok(Verdict::Pass),
        }
    }
    let limit = Duration::from_secs(1);
    hooks
        .register([
            on::<Check>().name("strict").plugin("safety").timeout(limit).handler(fails),
            on::<Tell>().name("lax").handler(async |n: &u32| fails(n).await.map(drop)),
            on::<Tell>()
                .name("stern")
                .on_failure(FailurePolicy::Closed)
                .handler(|n: &u32| if *n == 1 { Err("one") } else { Ok(()) }),
        ])
        .unwrap();
    for n in [0, 0, 1, 2, 3, 4] {
        let gate = hooks.fire_gating::<Check>(n).await;
        assert_eq!(gate.is_err(), n < 3);
    }
    for n in [0, 1, 3] {
        assert_eq!(hooks.fire_void::<Tell>(&n).await.is_err(), n == 1);
    }
    let strict = of(&statistics, "check:safety/strict");
    assert_eq!(causes(strict.failed_closed), [("error", 2), ("panic", 1), ("timeout", 1)]);
    assert_eq!((causes(strict.failed_open), strict.failures()), (vec![], 4));
    assert_eq!(decisions(&strict), [("passed", 1), ("rejected", 1)]);
    let lax = of(&statistics, "tell:lax");
    assert_eq!(causes(lax.failed_open), [("error", 1), ("panic", 1)]);
    assert_eq!((lax.failed_closed.total(), lax.failures()), (0, 2));
    assert_eq!(causes(of(&statistics, "tell:stern").failed_closed), [("error", 1)]);
    // The registry counts the same.
    for info in hooks.handlers() {
        let plugin = info.owner.plugin().map_or(String::new(), |id| format!("{id}/"));
        let row = of(&statistics, &format!("{}:{plugin}{}", info.point, info.name));
        assert_eq!((info.calls, info.failures), (row.calls, row.failures()));
        for (cause, count) in info.failures_by.iter() {
            assert_eq!(row.failed_open.of(cause) + row.failed_closed.of(cause), count);
        }
    }
    add_up(&statistics);
}

/// Failures of the last stages never become the error of a run.
#[tokio::test]
async fn l20_a_failure_of_the_last_stages_is_one_that_the_run_went_on_after() {
    let (hooks, statistics) = observed();
    let fails = |_: &mut FlowContext<Make>| Err::<(), _>("stuck");
    hooks
        .register([
            on::<Finally<Make>>().name("close").handler(fails),
            on::<AfterExecute<Make>>().name("pack").handler(fails),
        ])
        .unwrap();
    let run = hooks.run_flow::<Make, _>(1, async |n| Ok::<_, String>(n)).await;
    assert!(run.is_err());
    let close = of(&statistics, "shop:make/finally:close");
    assert_eq!((close.failed_open.total(), close.failed_closed.total()), (1, 0));
    let pack = of(&statistics, "shop:make/afterExecute:pack");
    assert_eq!((pack.failed_open.total(), pack.failed_closed.total()), (0, 1));
}

#[tokio::test]
async fn l21_skips_are_counted_by_every_reason() {
    let (hooks, statistics) = observed();
    hooks
        .register([
            on::<Route>().name("first").plugin("desk").handler(|n: &u32| match n {
                0 => Err("no number"),
                n => Ok((*n == 1).then_some(1)),
            }),
            on::<Route>()
                .name("strict")
                .on_failure(FailurePolicy::Closed)
                .handler(|n: &u32| if *n == 2 { Err("two") } else { Ok(None) }),
            on::<Route>().name("last").when(|n| *n != 3).handler(|_: &u32| None),
            on::<Check>().name("no").guard(|_: &u32| Verdict::reject("no")),
            on::<Check>().name("after").guard(|_: &u32| Verdict::Pass),
            on::<BeforeExecute<Make>>()
                .name("bound")
                .target_named("pot")
                .handler(|_: &mut FlowContext<Make>| ()),
        ])
        .unwrap();
    for n in 0..5 {
        let _ = hooks.fire_claiming::<Route>(&n).await;
    }
    let _ = hooks.scope(Plugins::BuiltIn).fire_claiming::<Route>(&1).await.unwrap();
    let _ = hooks.fire_gating::<Check>(1).await.unwrap();
    hooks.run_flow::<Make, _>(1, async |n| Ok::<_, String>(n)).await.unwrap();
    let skipped = |target| skips(&of(&statistics, target));
    assert_eq!(skipped("route:desk/first"), [("scope", 1)]);
    assert_eq!(skipped("route:strict"), [("after_claim", 1)]);
    assert_eq!(skipped("route:last"), [("condition", 1), ("after_claim", 1), ("after_failure", 1)]);
    assert_eq!(skipped("check:after"), [("after_rejection", 1)]);
    let bound = of(&statistics, "shop:make/beforeExecute:bound");
    assert_eq!((skips(&bound), bound.calls), (vec![("target", 1)], 0));
    assert_eq!(of(&statistics, "route:last").calls, 3);
    assert_eq!(of(&statistics, "route:last").skips.total(), 3);
    add_up(&statistics);
}

#[test]
fn l20_calls_in_flight_end_as_cancelled_where_their_fire_is_dropped() {
    let (hooks, statistics) = observed();
    hooks
        .register(on::<Tell>().name("waits").handler(async |n: &u32| {
            if *n > 0 {
                pending::<()>().await;
            }
        }))
        .unwrap();
    let row = || of(&statistics, "tell:waits");
    block_on(hooks.fire_void::<Tell>(&0)).unwrap();
    let mut fires: Vec<_> = (0..2).map(|_| Box::pin(hooks.fire_void::<Tell>(&1))).collect();
    for fire in &mut fires {
        assert!(poll_once(fire.as_mut()).is_pending());
    }
    assert_eq!((row().calls, row().in_flight, row().cancelled), (3, 2, 0));
    fires.pop();
    assert_eq!((row().calls, row().in_flight, row().cancelled), (3, 1, 1));
    fires.pop();
    assert_eq!((row().calls, row().in_flight, row().cancelled), (3, 0, 2));
    // The time of a call that was cancelled is not the handler's.
    assert_eq!(row().latency.count(), 1);
    add_up(&statistics);
}

/// What an observer is told to be the time is the time that is counted.
#[derive(Clone, Debug, Default)]
struct Times(Arc<Mutex<Vec<Duration>>>);

impl Observer for Times {
    fn handler_ended(&self, _: &ObservedCall<'_>, _: &HandlerStatus, took: Duration) {
        self.0.lock().unwrap().push(took);
    }
}

#[test]
fn l20_the_times_and_overruns_are_those_that_observers_see() {
    let (statistics, times) = (Statistics::new(), Times::default());
    let builder = HookRegistry::builder().observer(statistics.clone());
    let hooks = builder.observer(times.clone()).build();
    // Late in every call.
    let late = on::<Tell>().name("late").timeout(Duration::from_nanos(1));
    let busy = |n: &u32| {
        std::hint::black_box((0..*n * 1000).map(u64::from).sum::<u64>());
        if *n == 2 { Err("two") } else { Ok(()) }
    };
    hooks.register(late.handler(busy)).unwrap();
    for n in 0..9 {
        block_on(hooks.fire_void::<Tell>(&n)).unwrap();
    }
    let (row, times) = (of(&statistics, "tell:late"), times.0.lock().unwrap());
    assert_eq!((row.overruns, row.failed_open.total()), (9, 1));
    assert_eq!(row.latency.count(), 9);
    assert_eq!(row.latency.sum(), times.iter().sum());
    assert_eq!(row.latency.max(), *times.iter().max().unwrap());
    let mut expected = hooks_runtime::observe::Histogram::new();
    times.iter().for_each(|time| expected.record(*time));
    assert_eq!(row.latency, expected);
}

/// By point, then owner with those of the host first, then name.
#[test]
fn l22_rows_are_sorted_and_found_by_their_target() {
    let (hooks, statistics) = observed();
    let any = |_: &u32| ();
    hooks
        .register([
            on::<Tell>().name("b").plugin("zoo").handler(any),
            on::<Tell>().name("a").plugin("zoo").handler(any),
            on::<Tell>().name("z").handler(any),
            on::<Tell>().name("a").plugin("ant").handler(any),
            on::<Tell>().name("a").handler(any),
            on::<Route>().name("z").handler(|_: &u32| None),
            on::<Amend>().name("never called").handler(|_: &u32| None),
        ])
        .unwrap();
    assert_eq!(statistics.handlers(), [], "rows begin with the first call");
    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    let _ = block_on(hooks.fire_claiming::<Route>(&1)).unwrap();
    let rows = statistics.handlers();
    let keys: Vec<_> =
        rows.iter().map(|row| (row.point, row.owner.as_ref(), &*row.handler)).collect();
    assert_eq!(
        keys,
        [
            ("route", "built-in", "z"),
            ("tell", "built-in", "a"),
            ("tell", "built-in", "z"),
            ("tell", "ant", "a"),
            ("tell", "zoo", "a"),
            ("tell", "zoo", "b"),
        ]
    );
    assert_eq!(of(&statistics, "tell:zoo/b"), rows[5]);
    assert_eq!(of(&statistics, "tell:a"), rows[1]);
    for unknown in
        ["tell", "tell:", "tell:b", "tell:zoo/", "tell:zoo/z", "b", "amend:never called", ""]
    {
        assert_eq!(statistics.handler(unknown), None, "{unknown}");
    }
}

#[test]
fn l22_a_handler_that_comes_again_goes_on_in_its_row() {
    let (hooks, statistics) = observed();
    let other = HookRegistry::builder().observer(statistics.clone()).build();
    let any = |_: &u32| ();
    let tell = |name| on::<Tell>().name(name).plugin("zoo");
    let handle = hooks.register(tell("a").handler(any)).unwrap();
    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    handle.unregister();
    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    assert_eq!(of(&statistics, "tell:zoo/a").calls, 1, "the row stays");
    hooks.register(tell("a").handler(any)).unwrap();
    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    hooks.register(tell("a").replace().handler(any)).unwrap();
    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    // One of another registry, too, where both are given the same statistics.
    other.register(tell("a").handler(any)).unwrap();
    block_on(other.fire_void::<Tell>(&1)).unwrap();
    assert_eq!(of(&statistics, "tell:zoo/a").calls, 4);
    assert_eq!(statistics.handlers().len(), 1);
}

#[test]
fn l22_a_reset_forgets_all_but_the_calls_in_flight() {
    let (hooks, statistics) = observed();
    let waits = async |n: &u32| {
        if *n > 0 {
            pending::<()>().await;
        }
    };
    hooks
        .register([
            on::<Tell>().name("waits").handler(waits),
            on::<Tell>().name("is done").handler(|_: &u32| ()),
        ])
        .unwrap();
    block_on(hooks.fire_void::<Tell>(&0)).unwrap();
    let mut fire = Box::pin(hooks.fire_void::<Tell>(&1));
    assert!(poll_once(fire.as_mut()).is_pending());
    assert_eq!(of(&statistics, "tell:is done").calls, 2);
    statistics.reset();
    assert_eq!(statistics.handler("tell:is done"), None);
    let row = || of(&statistics, "tell:waits");
    assert_eq!((row().calls, row().in_flight, row().latency.count()), (1, 1, 0));
    assert_eq!(row().decisions.total(), 0);
    drop(fire);
    assert_eq!((row().calls, row().in_flight, row().cancelled), (1, 0, 1));
    block_on(hooks.fire_void::<Tell>(&0)).unwrap();
    assert_eq!((row().calls, of(&statistics, "tell:is done").calls), (2, 1));
    add_up(&statistics);
    statistics.reset();
    assert_eq!(statistics.handlers(), []);
}

/// Fires another point at each end, notes how many rows there are, then panics.
#[derive(Clone, Debug)]
struct Restless {
    statistics: Statistics,
    hooks: Arc<Mutex<Option<HookRegistry>>>,
    rows: Arc<Mutex<Vec<usize>>>,
}

impl Observer for Restless {
    fn handler_ended(&self, call: &ObservedCall<'_>, _: &HandlerStatus, _: Duration) {
        if call.fire().point() == "tell" {
            let hooks = self.hooks.lock().unwrap().clone().unwrap();
            assert!(poll_once(pin!(hooks.fire_claiming::<Route>(&1))).is_ready());
            let row = self.statistics.handler("tell:a").unwrap();
            assert_eq!(row.in_flight, 1);
            self.rows.lock().unwrap().push(self.statistics.handlers().len());
            panic!("an observer may panic");
        }
    }
}

#[test]
fn l20_an_observer_that_fires_asks_or_panics_harms_no_count() {
    keep_quiet(&["an observer may panic"]);
    let statistics = Statistics::new();
    let restless =
        Restless { statistics: statistics.clone(), hooks: Arc::default(), rows: Arc::default() };
    let builder = HookRegistry::builder().observer(restless.clone());
    let hooks = builder.observer(statistics.clone()).build();
    *restless.hooks.lock().unwrap() = Some(hooks.clone());
    hooks
        .register([
            on::<Tell>().name("a").handler(|_: &u32| ()),
            on::<Route>().name("b").handler(|_: &u32| Some(1)),
        ])
        .unwrap();
    for _ in 0..3 {
        block_on(hooks.fire_void::<Tell>(&1)).unwrap();
    }
    assert_eq!(*restless.rows.lock().unwrap(), [2, 2, 2]);
    assert_eq!(of(&statistics, "tell:a").decisions.of(ContributionKind::Nothing), 3);
    assert_eq!(of(&statistics, "route:b").decisions.of(ContributionKind::Claimed), 3);
    add_up(&statistics);
    // It would keep its registry for ever.
    *restless.hooks.lock().unwrap() = None;
}

fn eight_handlers(hooks: &HookRegistry) {
    for handler in 0..8_u32 {
        let odd = move |n: &u32| if (n + handler) % 2 == 1 { Err("odd") } else { Ok(()) };
        hooks.register(on::<Tell>().name(format!("h{handler}")).handler(odd)).unwrap();
    }
}

#[test]
fn l20_threads_that_fire_at_once_lose_no_count() {
    const THREADS: u64 = 4;
    const FIRES: u64 = 500;
    let (hooks, statistics) = observed();
    eight_handlers(&hooks);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for n in 0..FIRES as u32 {
                    block_on(hooks.fire_void::<Tell>(&n)).unwrap();
                }
            });
        }
    });
    let rows = statistics.handlers();
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert_eq!((row.calls, row.in_flight), (THREADS * FIRES, 0));
        assert_eq!(row.failed_open.of(FailureCause::Error), THREADS * FIRES / 2);
        assert_eq!(row.decisions.of(ContributionKind::Nothing), THREADS * FIRES / 2);
        assert_eq!(row.latency.count(), THREADS * FIRES);
    }
}

/// Each round begins without rows, so that all threads come to add the same ones.
#[test]
fn l20_first_calls_on_several_threads_make_one_row() {
    const THREADS: usize = 4;
    let (hooks, statistics) = observed();
    eight_handlers(&hooks);
    let (round, wrong) = (Barrier::new(THREADS), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..1000 {
                    round.wait();
                    block_on(hooks.fire_void::<Tell>(&1)).unwrap();
                    // Not asserted here, where the others would wait for ever.
                    if round.wait().is_leader() {
                        let calls: Vec<_> =
                            statistics.handlers().iter().map(|row| row.calls).collect();
                        if calls != [THREADS as u64; 8] {
                            wrong.lock().unwrap().push(calls);
                        }
                        statistics.reset();
                    }
                    round.wait();
                }
            });
        }
    });
    assert_eq!(*wrong.lock().unwrap(), Vec::<Vec<u64>>::new());
}

#[test]
fn l22_a_row_serialises_with_every_key() {
    let (hooks, statistics) = observed();
    let skipped = on::<Tell>().name("a").plugin("zoo").when(|n| *n > 0);
    hooks.register(skipped.handler(|_: &u32| ())).unwrap();
    block_on(hooks.fire_void::<Tell>(&0)).unwrap();
    let no_failures = json!({
        "error": 0, "panic": 0, "timeout": 0, "no_timer": 0, "breaker_open": 0, "rate_limited": 0,
    });
    let no_decisions = json!({
        "nothing": 0, "fields": 0, "claimed": 0, "passed": 0, "replaced": 0,
        "rejected": 0, "answered": 0, "answer_refused": 0, "recovered": 0,
        "recovery_refused": 0, "skipped": 0, "aborted": 0,
    });
    let skips = statistics.handlers()[0].skips;
    assert_eq!((skips.of(SkipReason::Condition), skips.of(SkipReason::AfterClaim)), (1, 0));
    assert_eq!(
        serde_json::to_value(statistics.handlers()).unwrap(),
        json!([{
            "point": "tell",
            "owner": {"kind": "plugin", "id": "zoo"},
            "handler": "a",
            "calls": 0,
            "in_flight": 0,
            "decisions": no_decisions,
            "failed_open": no_failures,
            "failed_closed": no_failures,
            "shadow": no_decisions,
            "shadow_failures": no_failures,
            "cancelled": 0,
            "skips": {
                "scope": 0, "target": 0, "unregistered": 0, "condition": 1, "once": 0,
                "disabled": 0, "sampled_out": 0, "after_claim": 0, "after_rejection": 0, "after_failure": 0, "after_skip": 0,
                "after_abort": 0,
            },
            "overruns": 0,
            "latency": {"count": 0, "sum_ns": 0, "max_ns": 0, "buckets": []},
        }]),
    );
}
