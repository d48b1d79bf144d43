//! Every model with every outcome: each start has its one end, and the
//! observer, the report, the counters and the log say the same (L20, L21, L22).

use std::collections::HashSet;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use hooks_runtime::observe::{FireEnd, ObservedCall, ObservedFire, Observer};
use hooks_runtime::report::{FireReport, HandlerStatus, SkipReason};
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, Plugins, Verdict, hook_points, on};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

hook_points! {
    /// Void.
    pub void Tell { n: u32 }
    /// Modifying.
    pub modifying Amend { n: u32 } -> { title: String }
    /// Claiming.
    pub claiming Ask { n: u32 } -> u32;
    /// Gating.
    #[hook(on_failure = "open")]
    pub gating Pass { n: u32 }
    /// A flow.
    pub flow Run { n: u32 } -> u32;
}

/// What a handler does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Answer,
    Nothing,
    Error,
    Panic,
    Timeout,
    Reject,
    Filtered,
    Dropped,
}

const ALL: [Does; 8] = [
    Does::Answer,
    Does::Nothing,
    Does::Error,
    Does::Panic,
    Does::Timeout,
    Does::Reject,
    Does::Filtered,
    Does::Dropped,
];

impl Does {
    /// Everything but the answer itself.
    async fn act(self) -> Result<(), String> {
        match self {
            Self::Error => Err("refused by the disk".to_owned()),
            Self::Panic => panic!("out of paper"),
            Self::Timeout | Self::Dropped => pending().await,
            _ => Ok(()),
        }
    }

    /// What is said of the call: none where there is none.
    fn status(self) -> Option<&'static str> {
        match self {
            Self::Answer | Self::Nothing | Self::Reject => Some("ran"),
            Self::Error => Some("error"),
            Self::Panic => Some("panic"),
            Self::Timeout => Some("timeout"),
            Self::Filtered => None,
            Self::Dropped => Some("cancelled"),
        }
    }

    fn fails(self) -> bool {
        matches!(self, Self::Error | Self::Panic | Self::Timeout)
    }
}

/// Records its notifications, and that starts and ends pair.
#[derive(Clone, Debug, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<HashSet<u64>>>,
}

impl Log {
    fn start(&self, id: u64, line: String) {
        assert!(self.open.lock().unwrap().insert(id), "{id} starts once");
        self.lines.lock().unwrap().push(line);
    }

    fn end(&self, id: u64, line: String) {
        assert!(self.open.lock().unwrap().remove(&id), "{id} ends once");
        self.lines.lock().unwrap().push(line);
    }
}

impl Observer for Log {
    fn fire_started(&self, fire: &ObservedFire) {
        self.start(fire.id(), format!("{} begins", fire.point()));
    }

    fn fire_ended(&self, fire: &ObservedFire, end: &FireEnd<'_>, _: Duration) {
        self.end(fire.id(), format!("{} ends: {}", fire.point(), end.as_str()));
    }

    fn handler_started(&self, call: &ObservedCall<'_>) {
        self.start(call.id(), format!("{} begins", call.handler()));
    }

    fn handler_ended(&self, call: &ObservedCall<'_>, status: &HandlerStatus, _: Duration) {
        self.end(call.id(), format!("{} ends: {}", call.handler(), status.as_str()));
    }

    fn handler_filtered(&self, call: &ObservedCall<'_>, filter: SkipReason) {
        self.lines.lock().unwrap().push(format!("{} left out: {filter}", call.handler()));
    }
}

/// Counts the warnings of the runtime.
struct Warnings(Arc<AtomicUsize>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("hooks_runtime")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Waits for a fire, or, where it is to be dropped, polls it once and drops it.
async fn settle<T>(does: Does, fire: impl Future<Output = (T, FireReport)>) -> Option<FireReport> {
    if does == Does::Dropped {
        let mut fire = pin!(fire);
        let mut task = Context::from_waker(Waker::noop());
        assert!(fire.as_mut().poll(&mut task).is_pending());
        return None;
    }
    Some(fire.await.1)
}

/// One registry with one handler `h`, fired once. Its log, and the report.
async fn fire(model: &str, does: Does) -> (HookRegistry, Log, Option<FireReport>) {
    let log = Log::default();
    let hooks = HookRegistry::builder().observer(log.clone()).build();
    let limit = Duration::from_secs(1);
    macro_rules! register {
        ($point:ty, $handler:expr) => {{
            let on = on::<$point>().name("h").plugin("acme");
            let on = if does == Does::Timeout { on.timeout(limit) } else { on };
            hooks.register(on.handler_with(does, $handler)).unwrap();
        }};
    }
    match model {
        "tell" => register!(Tell, async |does: &Does, _: &TellPayload| does.act().await),
        "amend" => register!(Amend, async |does: &Does, _: &AmendPayload| {
            does.act().await?;
            let title = (*does == Does::Answer).then(|| "Dear".to_owned());
            Ok::<_, String>(title.map(|title| AmendResult { title: Some(title) }))
        }),
        "ask" => register!(Ask, async |does: &Does, _: &AskPayload| {
            does.act().await?;
            Ok::<_, String>((*does == Does::Answer).then_some(7))
        }),
        "pass" => register!(Pass, async |does: &Does, p: &PassPayload| {
            does.act().await?;
            Ok::<_, String>(match does {
                Does::Answer => Verdict::Replace(PassPayload { n: p.n + 1 }),
                Does::Reject => Verdict::reject("too large"),
                _ => Verdict::Pass,
            })
        }),
        _ => register!(BeforeExecute<Run>, async |does: &Does, flow: &mut FlowContext<Run>| {
            does.act().await?;
            match does {
                Does::Answer => assert!(flow.respond(7)),
                Does::Reject => flow.abort("not today"),
                _ => {}
            }
            Ok::<_, String>(())
        }),
    }
    let scope = if does == Does::Filtered { Plugins::BuiltIn } else { Plugins::All };
    let turn = hooks.scope(scope);
    let report = match model {
        "tell" => settle(does, turn.fire_void_reported::<Tell>(&TellPayload { n: 1 })).await,
        "amend" => {
            settle(does, turn.fire_modifying_reported::<Amend>(&AmendPayload { n: 1 })).await
        }
        "ask" => settle(does, turn.fire_claiming_reported::<Ask>(&AskPayload { n: 1 })).await,
        "pass" => settle(does, turn.fire_gating_reported::<Pass>(PassPayload { n: 1 })).await,
        _ => {
            let run = async {
                let operation = async |input: RunPayload| Ok::<_, std::io::Error>(input.n);
                let run = turn.flow::<Run>().run_reported(RunPayload { n: 1 }, operation);
                let (outcome, report) = run.await;
                (outcome, report.stages()[0].clone())
            };
            settle(does, run).await
        }
    };
    (hooks, log, report)
}

/// What the fire of a point comes to.
fn end(model: &str, does: Does) -> &'static str {
    match (model, does) {
        (_, Does::Dropped) => "dropped",
        ("tell", _) => "notified",
        ("amend", Does::Answer) => "amended",
        ("amend", _) => "unchanged",
        ("ask", Does::Answer) => "claimed",
        ("ask", _) => "unclaimed",
        ("pass", Does::Reject) => "rejected",
        ("pass", _) => "passed",
        (_, Does::Reject) => "aborted",
        (_, Does::Error | Does::Panic | Does::Timeout) => "failed",
        _ => "ran",
    }
}

#[test]
fn l20_l21_every_start_has_its_one_end_and_all_who_tell_agree() {
    let warnings = Arc::new(AtomicUsize::new(0));
    let subscriber = Warnings(Arc::clone(&warnings));
    let mut pairs = 0;
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_time().start_paused(true).build().unwrap();
        for model in ["tell", "amend", "ask", "pass", "run/beforeExecute"] {
            for does in ALL {
                warnings.store(0, Ordering::Relaxed);
                let (hooks, log, report) = runtime.block_on(fire(model, does));
                check(model, does, &hooks, &log, report.as_ref());
                assert_eq!(
                    warnings.load(Ordering::Relaxed),
                    usize::from(does.fails()),
                    "warnings of {model} {does:?}"
                );
                pairs += 1;
            }
        }
    });
    assert_eq!(pairs, 40);
}

fn check(model: &str, does: Does, hooks: &HookRegistry, log: &Log, report: Option<&FireReport>) {
    let what = format!("{model} {does:?}");
    let mut expected = vec![format!("{model} begins")];
    if let Some(status) = does.status() {
        expected.extend(["h begins".to_owned(), format!("h ends: {status}")]);
    } else {
        expected.push("h left out: its plugin is not in scope".to_owned());
    }
    expected.push(format!("{model} ends: {}", end(model, does)));
    let lines = log.lines.lock().unwrap();
    let of_the_fire = |line: &&String| line.starts_with(model) || line.starts_with("h ");
    assert_eq!(
        lines.iter().filter(of_the_fire).collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>(),
        "{what}"
    );
    assert!(log.open.lock().unwrap().is_empty(), "{what}: nothing is left open");

    if let Some(report) = report {
        let rows: Vec<_> = report.handlers().iter().map(|row| row.status().as_str()).collect();
        assert_eq!(rows, [does.status().unwrap_or("filtered")], "{what}");
    }
    let infos = hooks.handlers();
    let counts = (infos[0].calls, infos[0].failures, infos[0].skips.total());
    let called = does.status().is_some();
    let expected = (u64::from(called), u64::from(does.fails()), u64::from(!called));
    assert_eq!(counts, expected, "counters of {what}");
}
