//! A command ends before its fire gives it up: by TERM, the grace and KILL, with a `Run` that
//! says so, whoever set how long the fire waits.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::fs;
use std::time::{Duration, Instant};

use dialects::{configuration, plan};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::{Cause, Limits};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Mode, Run, Runs};
use hooks_runtime::report::FireReport;
use hooks_runtime::{Gate, HookRegistry, Plugins, ScopedHooks};
use serde_json::{Value, json};
use support::{Scripts, eventually, nap, processes, zombies};

const TARGET: &str = "using_tool:claude-code/guard.sh";

/// A host with one command at a gate.
struct Host {
    scripts: Scripts,
    hooks: HookRegistry,
    runs: Runs,
}

impl Host {
    fn new(script: &str, keys: Value, mode: Mode, limits: Limits) -> Self {
        let scripts = Scripts::new();
        let guard = scripts.script("guard.sh", script).display().to_string();
        let text = configuration(Dialect::ClaudeCode, "PreToolUse", &[(guard, keys)]);
        let plan = plan(Dialect::ClaudeCode, &text, scripts.path());
        let bridge = Bridge::new(scripts.path(), plan).trust(Trust::everything());
        let hooks = HookRegistry::new();
        hooks.register(bridge.mode(mode).limits(limits).gate::<UsingTool>()).unwrap();
        Self { scripts, hooks, runs: Runs::default() }
    }

    fn strict(script: &str) -> Self {
        Self::new(script, Value::Null, Mode::Strict, Limits::default())
    }

    fn limited(self, limit: Duration) -> Self {
        self.hooks.operator().time_limit(TARGET, limit).by("ops").apply().unwrap();
        self
    }

    fn scope(&self) -> ScopedHooks {
        self.hooks.scope(Plugins::All).with(self.runs.clone())
    }

    async fn fire(&self) -> (Result<bool, String>, FireReport) {
        let (gate, report) = self.scope().fire_gating_reported::<UsingTool>(call()).await;
        (gate.map(|gate| matches!(gate, Gate::Passed(_))).map_err(|it| it.to_string()), report)
    }

    /// The one run.
    fn run(&self) -> Run {
        let mut runs = self.runs.take();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs.remove(0)
    }

    fn cause(&self) -> Cause {
        self.run().answer.failure().expect("a failure").cause.clone()
    }
}

fn call() -> UsingToolPayload {
    let input = json!({ "command": "ls" });
    UsingToolPayload { session_id: "s".into(), cwd: None, tool_name: "Bash".into(), input }
}

fn notes(report: &FireReport, handler: &str) -> Vec<(&'static str, String)> {
    let row = report.handler(handler).unwrap_or_else(|| panic!("{handler}: {report}"));
    row.notes().map(|(key, value)| (key, value.to_owned())).collect()
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// L35: at an operator's limit a command is asked to end, and what it says then is kept.
#[tokio::test]
async fn l35_a_command_ends_in_its_own_way_at_an_operators_limit() {
    let script = "#!/bin/bash\ntrap 'echo bye >&2; echo bye > bye; exit 0' TERM\necho hello >&2\nsleep 60 & wait\n";
    // A grace that a busy machine gives the command its turn in.
    let limits = Limits { grace: ms(2_000), ..Limits::default() };
    let host = Host::new(script, Value::Null, Mode::Strict, limits).limited(ms(7_000));
    let began = Instant::now();
    let (came, report) = host.fire().await;
    assert!(began.elapsed() < ms(7_000), "{:?}", began.elapsed());
    let said = "no answer within 5.25s, of the 7s that its fire waits; stderr ends: hello\\nbye";
    let status = report.handler("guard.sh").unwrap().status().to_string();
    assert_eq!(status, format!("error, fail-closed: {said}"));
    assert_eq!(fs::read_to_string(host.scripts.path().join("bye")).unwrap(), "bye\n");
    assert!(came.unwrap_err().contains(said));
    let run = host.run();
    let failure = run.answer.failure().unwrap();
    assert_eq!(failure.cause, Cause::FireTimeout { within: ms(5_250), of: ms(7_000) });
    assert_eq!((failure.started, run.stderr.as_str()), (true, "hello\nbye\n"));
}

/// L35: one that ignores TERM is killed within the operator's limit, though the grace of the
/// host is longer than that.
#[tokio::test]
async fn l35_a_command_that_ignores_term_is_killed_within_an_operators_limit() {
    let nap = nap(91);
    let script = format!("#!/bin/bash\ntrap '' TERM\nsleep {nap}\nsleep {nap}\n");
    let limits = Limits { grace: Duration::from_secs(30), ..Limits::default() };
    let host = Host::new(&script, Value::Null, Mode::Strict, limits).limited(ms(2_000));
    let began = Instant::now();
    let (came, _) = host.fire().await;
    assert!(began.elapsed() < ms(2_000), "{:?}", began.elapsed());
    assert!(came.unwrap_err().contains("no answer within 1.5s, of the 2s"));
    assert_eq!(host.cause(), Cause::FireTimeout { within: ms(1_500), of: ms(2_000) });
    assert_eq!((processes(&nap), zombies()), (0, 0));
}

/// A limit of the file that is shorter than the fire's is said as it is, with all its grace.
#[tokio::test]
async fn a_shorter_limit_of_the_file_stays_its_own() {
    let more = json!({ "timeout": 0.3 });
    let limits = Limits { grace: ms(50), ..Limits::default() };
    let host = Host::new("#!/bin/sh\nsleep 60\n", more, Mode::Strict, limits).limited(ms(1_300));
    assert!(host.fire().await.0.unwrap_err().contains("no answer within 300ms"));
    assert_eq!(host.cause(), Cause::Timeout(ms(300)));
}

/// L35, L37: in a fire that waits for no time at all nothing is started, which is a failure.
#[tokio::test]
async fn l37_without_time_nothing_is_started_and_nothing_passes() {
    for mode in [Mode::Strict, Mode::Faithful] {
        let host = Host::new("#!/bin/sh\ntouch ran\n", Value::Null, mode, Limits::default());
        let host = host.limited(ms(1));
        let (came, report) = host.fire().await;
        let said = "not started: its fire waits 1ms, in which no command can be run and ended";
        let status = report.handler("guard.sh").unwrap().status().to_string();
        assert_eq!(status, format!("error, fail-closed: {said}"));
        assert!(came.is_err(), "{mode:?}");
        let run = host.run();
        let failure = run.answer.failure().unwrap();
        assert_eq!((&failure.cause, failure.started), (&Cause::NoTime(ms(1)), false));
        assert!(!host.scripts.path().join("ran").exists());
    }
}

/// Limits so short that the end of a command may fall behind them: a run is kept all the same,
/// and nothing is left.
#[tokio::test]
async fn however_short_the_limit_is_a_run_is_kept_and_nothing_is_left() {
    let nap = nap(92);
    let script = format!("#!/bin/bash\ntrap '' TERM\nsleep {nap} & sleep {nap}\n");
    let host = Host::strict(&script);
    for limit in (1..40).chain([60, 90]) {
        let setting = host.hooks.operator().time_limit(TARGET, ms(limit)).apply().unwrap();
        let (came, report) = host.fire().await;
        assert!(came.is_err(), "{limit}: {report}");
        let cause = host.cause();
        let known = matches!(
            cause,
            Cause::NoTime(_) | Cause::FireTimeout { .. } | Cause::GivenUp | Cause::Busy(_)
        );
        assert!(known, "{limit}: {cause:?}");
        host.hooks.operator().clear(setting.id()).unwrap();
    }
    eventually("all have ended", || processes(&nap) == 0 && zombies() == 0).await;
}

/// L25: a fire that is dropped leaves a run that says so.
#[tokio::test]
async fn l25_a_dropped_fire_leaves_a_run() {
    let nap = nap(93);
    let host = Host::strict(&format!("#!/bin/sh\ntouch started\nsleep {nap}\n"));
    let started = host.scripts.path().join("started");
    let scope = host.scope();
    let fire = tokio::spawn(async move { scope.fire_gating::<UsingTool>(call()).await.map(drop) });
    eventually("it has started", || started.exists()).await;
    fire.abort();
    assert!(fire.await.unwrap_err().is_cancelled());
    let run = host.run();
    let failure = run.answer.failure().unwrap();
    assert_eq!((&failure.cause, failure.started), (&Cause::GivenUp, true));
    assert_eq!(
        failure.to_string(),
        "given up without an answer: its fire was dropped, or waited no longer"
    );
    eventually("it has ended", || processes(&nap) == 0).await;
}

/// L21: the row says what it cannot know by itself: whether there was an opinion, what decided,
/// how the command ended, and how long it ran.
#[tokio::test]
async fn l21_the_row_says_how_the_command_answered() {
    let json = r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#;
    let cases: [(&str, &[(&str, &str)]); 6] = [
        ("exit 0", &[("answer", "no_opinion"), ("exit", "0")]),
        (
            &format!("echo '{json}'"),
            &[("answer", "decided"), ("decided_by", "json"), ("exit", "0")],
        ),
        ("exit 2", &[("answer", "decided"), ("decided_by", "exit"), ("exit", "2")]),
        ("exit 7", &[("answer", "failed"), ("exit", "7")]),
        ("kill -9 $PPID", &[("answer", "failed"), ("exit", "signal 9")]),
        ("echo '{ no'", &[("answer", "failed"), ("exit", "0")]),
    ];
    for (line, expected) in cases {
        let host = Host::strict(&format!("#!/bin/bash\n{line}\n"));
        let (_, report) = host.fire().await;
        let mut notes = notes(&report, "guard.sh");
        let (key, process) = notes.pop().unwrap();
        assert!(key == "process" && process.ends_with('s'), "{line}: {process}");
        let notes: Vec<_> = notes.iter().map(|(key, value)| (*key, value.as_str())).collect();
        assert_eq!(notes, expected, "{line}");
    }
    // What did not run has no notes.
    let host = Host::strict("#!/bin/sh\n");
    let (_, report) = host.fire().await;
    assert_eq!(notes(&report, "guard.sh (again)"), []);
    let host = Host::strict("#!/bin/sh\n").limited(ms(1));
    let (_, report) = host.fire().await;
    assert_eq!(notes(&report, "guard.sh"), [("answer", "failed".to_owned())]);
    let host = Host::new("#!/bin/sh\n", json!({ "async": true }), Mode::Strict, Limits::default());
    let (_, report) = host.fire().await;
    assert_eq!(notes(&report, "guard.sh"), [("answer", "background".to_owned())]);
}
