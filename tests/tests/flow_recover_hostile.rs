//! Recoveries by handlers that fail, that are leaving, or whose output bites
//! (L12, L13, L19, L25).

mod flow_support;
mod support;

use std::future::Future;
use std::task::Poll;
use std::time::Duration;

use flow_support::{Answer, Call, Context, DiskFull, RunTool, Trace, at, call, told};
use hooks_runtime::flow::{FlowReport, StageKind};
use hooks_runtime::handler::On;
use hooks_runtime::{
    BeforeExecute, Finally, FlowContext, HookPoint, HookRegistry, OnError, hook_points, on,
};
use support::{Count, CountsDrop, Log, Spiky, drained, keep_quiet, poll_once};
use tokio::sync::Notify;

/// What is meant to panic here.
const PLANNED: &[&str] = &["half done", "spiky to the end", "dropped badly"];

fn answer(text: &str) -> Answer {
    Answer(text.into())
}

async fn fails(_: Call) -> Result<Answer, DiskFull> {
    Err(DiskFull { missing: 7 })
}

fn rows(report: &FlowReport) -> Vec<String> {
    let rows = report.stages().iter().flat_map(|stage| stage.handlers());
    rows.map(|row| format!("{}: {}", row.handler(), row.status())).collect()
}

/// How a handler fails after it has recovered.
#[derive(Clone, Copy, Debug)]
enum Fails {
    Error,
    Panic,
    Timeout,
    Abort,
}

/// A handler that failed makes no success of a failure; the next one may.
#[tokio::test(start_paused = true)]
async fn l13_the_recovery_of_a_handler_that_fails_is_withdrawn() {
    keep_quiet(PLANNED);
    for (fails_by, text) in [
        (Fails::Error, "error, fail-open: 3 bytes short"),
        (Fails::Panic, "panic, fail-open: panicked: half done"),
        (Fails::Timeout, "timeout, fail-open: did not finish within 1s"),
        (Fails::Abort, "error, fail-open: closed for today"),
    ] {
        let (hooks, trace) = (HookRegistry::new(), Trace::default());
        let act = async |fails: &Fails, flow: &mut Context| {
            assert!(flow.recover(answer("half done")));
            assert_eq!(flow.output(), Some(&answer("half done")));
            match fails {
                Fails::Error => return Err(DiskFull { missing: 3 }),
                Fails::Panic => panic!("half done"),
                Fails::Timeout => std::future::pending().await,
                Fails::Abort => flow.abort("closed for today"),
            }
            Ok(())
        };
        let first = on::<OnError<RunTool>>().name("first").timeout(Duration::from_secs(1));
        hooks.register(first.handler_with(fails_by, act)).unwrap();
        let noting = trace.clone();
        let sees = at(StageKind::Finally, "sees", move |flow| {
            noting.note(format!("{:?} {}", flow.output(), flow.is_recovered()));
            Ok(())
        });
        hooks.register(sees).unwrap();
        let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
        assert_eq!(told(&outcome), "7 bytes short", "{fails_by:?}");
        assert_eq!(rows(&report), [&format!("first: {text}"), "sees: ran"], "{fails_by:?}");
        assert_eq!(report.recovery(), None);
        assert_eq!(trace.take(), ["None false"]);

        let second = at(StageKind::OnError, "second", |flow| {
            assert_eq!(flow.output(), None);
            assert!(flow.recover(answer("whole")));
            Ok(())
        });
        hooks.register(second).unwrap();
        let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
        assert_eq!(told(&outcome), "answered: whole", "{fails_by:?}");
        assert_eq!(report.recovery().unwrap().handler(), "second");
        assert_eq!(trace.take(), [r#"Some(Answer("whole")) true"#]);
    }
}

/// What comes after it, in its stage and in the last, takes no recovery away.
#[tokio::test]
async fn l13_a_recovery_stands_whatever_later_handlers_do() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    let recovers = at(StageKind::OnError, "recovers", |flow| {
        assert!(flow.recover(answer("stands")));
        Ok(())
    });
    hooks.register(recovers).unwrap();
    for stage in [StageKind::OnError, StageKind::Finally] {
        hooks
            .register([
                at(stage, "panics", |_| panic!("half done")),
                at(stage, "fails", |_| Err(DiskFull { missing: 3 })),
                at(stage, "aborts", |flow| {
                    flow.abort("closed");
                    Ok(())
                }),
            ])
            .unwrap();
    }
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "answered: stands");
    let failed = [
        "panics: panic, fail-open: panicked: half done",
        "fails: error, fail-open: 3 bytes short",
        "aborts: error, fail-open: closed",
    ];
    assert_eq!(rows(&report), [&["recovers: recovered"][..], &failed, &failed].concat());
}

/// A future that is ready, and panics when it is dropped.
struct DropsBadly<'f>(&'f mut Context);

impl Future for DropsBadly<'_> {
    type Output = ();
    fn poll(mut self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> Poll<()> {
        assert!(self.0.recover(answer("given")));
        Poll::Ready(())
    }
}

impl Drop for DropsBadly<'_> {
    fn drop(&mut self) {
        panic!("dropped badly");
    }
}

fn drops_badly(flow: &mut Context) -> DropsBadly<'_> {
    DropsBadly(flow)
}

/// That is a failure of the handler like another.
#[tokio::test]
async fn l12_the_recovery_of_a_handler_whose_future_panics_in_its_drop_is_withdrawn() {
    keep_quiet(PLANNED);
    let hooks = HookRegistry::new();
    hooks.register(on::<OnError<RunTool>>().name("bad").handler(drops_badly)).unwrap();
    let (outcome, report) = hooks.flow::<RunTool>().run_reported(call("ls"), fails).await;
    assert_eq!(told(&outcome), "7 bytes short");
    assert_eq!(rows(&report), ["bad: panic, fail-open: panicked: dropped badly"]);
}

/// A recovery that is there counts, however late.
#[tokio::test(start_paused = true)]
async fn l14_a_recovery_after_the_time_limit_counts() {
    let hooks = HookRegistry::new();
    let slow = async |flow: &mut Context| {
        once().await;
        assert!(flow.recover(answer("late")));
    };
    let limit = Duration::from_secs(1);
    hooks.register(on::<OnError<RunTool>>().name("slow").timeout(limit).handler(slow)).unwrap();
    let mut run = Box::pin(hooks.flow::<RunTool>().run_reported(call("ls"), fails));
    assert!(poll_once(run.as_mut()).is_pending());
    tokio::time::advance(2 * limit).await;
    let (outcome, report) = run.await;
    assert_eq!(told(&outcome), "answered: late");
    assert_eq!(rows(&report), ["slow: recovered"]);
}

hook_points! {
    /// Makes something whose drop may panic.
    pub flow Make(u32) -> Spiky;

    /// Makes something whose drops are counted.
    pub flow Count1(u32) -> CountsDrop;
}

fn stage<S: HookPoint>(name: &'static str) -> On<S> {
    on::<S>().name(name)
}

/// Refused, withdrawn or dropped with its run: an output is the user's code.
#[tokio::test]
async fn l12_a_recovery_that_does_not_count_is_dropped_with_care() {
    keep_quiet(PLANNED);
    let make = async |_| Err::<Spiky, _>(DiskFull { missing: 7 });
    let sharp = || Spiky { sharp: true };

    let refused = HookRegistry::new();
    let twice = move |flow: &mut FlowContext<Make>| {
        assert!(flow.recover(Spiky { sharp: false }));
        assert!(!flow.recover(sharp()));
        assert!(!flow.respond(sharp()));
    };
    let elsewhere = move |flow: &mut FlowContext<Make>| assert!(!flow.recover(sharp()));
    refused
        .register([
            stage::<BeforeExecute<Make>>("before").handler(elsewhere),
            stage::<OnError<Make>>("twice").handler(twice),
            stage::<OnError<Make>>("second").handler(elsewhere),
            stage::<Finally<Make>>("last").handler(elsewhere),
        ])
        .unwrap();
    let made = refused.flow::<Make>().run(1, make).await;
    assert_eq!(made.unwrap(), Spiky { sharp: false });

    let withdrawn = HookRegistry::new();
    let fails = move |flow: &mut FlowContext<Make>| {
        flow.recover(sharp());
        Err::<(), _>("not after all")
    };
    withdrawn.register(stage::<OnError<Make>>("fails").handler(fails)).unwrap();
    let (made, report) = withdrawn.flow::<Make>().run_reported(1, make).await;
    assert_eq!(made.unwrap_err().to_string(), "7 bytes short");
    assert_eq!(rows(&report), ["fails: error, fail-open: not after all"]);

    // A run that is dropped after the recovery.
    let dropped = HookRegistry::new();
    let recovers = move |flow: &mut FlowContext<Make>| assert!(flow.recover(sharp()));
    let waits = async |_: &mut FlowContext<Make>| std::future::pending::<()>().await;
    dropped
        .register([
            stage::<OnError<Make>>("recovers").handler(recovers),
            stage::<Finally<Make>>("waits").handler(waits),
        ])
        .unwrap();
    let mut run = Box::pin(dropped.flow::<Make>().run(1, make));
    assert!(poll_once(run.as_mut()).is_pending());
    drop(run);
}

/// Pending once.
async fn once() {
    tokio::task::yield_now().await;
}

/// Wherever a run is dropped, an output that was made is dropped once, and the
/// registry goes on.
#[tokio::test]
async fn l25_a_run_that_is_dropped_at_any_poll_drops_its_recovery_once() {
    for polls in 0..12 {
        let (hooks, made, dropped) = (HookRegistry::new(), Count::default(), Count::default());
        let recover = async |(made, dropped): &(Count, Count), flow: &mut FlowContext<Count1>| {
            once().await;
            for _ in 0..2 {
                made.add();
                flow.recover(dropped.on_drop());
                once().await;
            }
        };
        let waits = async |_: &mut FlowContext<Count1>| once().await;
        let state = || (made.clone(), dropped.clone());
        hooks
            .register([
                stage::<BeforeExecute<Count1>>("before").handler(waits),
                stage::<OnError<Count1>>("first").handler_with(state(), recover),
                stage::<OnError<Count1>>("second").handler_with(state(), recover),
                stage::<Finally<Count1>>("last").handler(waits),
            ])
            .unwrap();
        let operation = async |_| {
            once().await;
            Err::<CountsDrop, _>("no")
        };
        let mut run = Box::pin(hooks.flow::<Count1>().run(1, operation));
        let mut ended = false;
        for _ in 0..polls {
            if let Poll::Ready(outcome) = poll_once(run.as_mut()) {
                assert!(outcome.is_ok());
                ended = true;
                break;
            }
        }
        drop(run);
        assert_eq!(made.get(), dropped.get(), "after {polls} polls");
        assert_eq!(ended, polls >= 10, "after {polls} polls: every one was tried");
        let again = hooks.flow::<Count1>().run(1, async |_| Err::<CountsDrop, _>("no")).await;
        assert!(again.is_ok());
    }
}

/// A plugin that leaves where it has begun can recover still; one that has not
/// begun is not called.
#[tokio::test(start_paused = true)]
async fn l19_a_plugin_that_left_recovers_the_runs_in_which_it_has_begun() {
    for has_begun in [true, false] {
        let (hooks, log, goes_on) = (HookRegistry::new(), Log::new(), Notify::new());
        let opened = log.clone();
        let opens = move |_: &mut Context| opened.push("opens");
        let fall_back = |flow: &mut Context| assert!(flow.recover(answer("kept")));
        let plugin = "spare";
        if has_begun {
            let opens = stage::<BeforeExecute<RunTool>>("opens").plugin(plugin).handler(opens);
            hooks.register(opens).unwrap();
        }
        let fall_back = stage::<OnError<RunTool>>("falls").plugin(plugin).handler(fall_back);
        hooks.register(fall_back).unwrap();
        let operation = async |_| {
            goes_on.notified().await;
            Err::<Answer, _>(DiskFull { missing: 7 })
        };
        let mut run = Box::pin(hooks.flow::<RunTool>().run_reported(call("ls"), operation));
        assert!(poll_once(run.as_mut()).is_pending());
        let removal = hooks.unregister_plugin(plugin);
        goes_on.notify_one();
        let (waited, (outcome, report)) = tokio::join!(drained(&removal), run);
        assert_eq!(waited, Ok(()));
        if has_begun {
            assert_eq!(told(&outcome), "answered: kept");
            let owner = report.recovery().unwrap().owner().to_string();
            assert_eq!(owner, "plugin `spare`");
        } else {
            assert_eq!(told(&outcome), "7 bytes short");
            assert_eq!(rows(&report), ["falls: not called: unregistered meanwhile"]);
        }
        let after = hooks.flow::<RunTool>().run(call("ls"), fails).await;
        assert_eq!(told(&after), "7 bytes short", "a later run has none of it");
    }
}
