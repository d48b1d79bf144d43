//! Commands that try to outlive their limit, to hold a place, or to break the clock.

mod support;

use std::time::{Duration, Instant};

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::points::{UsingTool, UsingToolPayload};
use hooks_bridge::runner::{Cause, Exit, Invocation, Limits, Program, Runner};
use hooks_bridge::{Bridge, Dialect};
use hooks_runtime::HookRegistry;
use support::{Scripts, descriptors, eventually, processes, zombies};

fn runner() -> Runner {
    Runner::new(Limits { grace: Duration::from_millis(200), ..Limits::default() })
}

fn program(name: &str, line: &str, timeout: Duration) -> Invocation {
    Invocation { timeout, ..Invocation::new(Program::shell(name, line)) }
}

#[tokio::test]
async fn a_limit_beyond_the_clock_is_no_panic() {
    let ran = runner().run(program("sh", "echo here", Duration::MAX)).await.unwrap();
    assert_eq!((ran.exit, ran.stdout.as_slice()), (Exit::Code(0), b"here\n".as_slice()));
}

/// L12: limits beyond the clock and beyond all numbers neither panic nor have a command go on.
#[tokio::test]
async fn l12_limits_beyond_the_clock_are_no_panic() {
    let (grace, drain, concurrent) = (Duration::MAX, Duration::MAX, usize::MAX);
    let limits = Limits { grace, drain, concurrent, ..Limits::default() };
    let limit = Duration::from_millis(50);
    let run = program("sh", "exec sleep 60", limit);
    let failure = Runner::new(limits.clone()).run(run).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Timeout(limit));

    let text = r#"{ "hooks": { "PreToolUse": [ { "hooks": [
        { "type": "command", "command": "true", "timeout": 5 } ] } ] } }"#;
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let bridge = Bridge::new("/", Plan::read_text(&source, text, "/")).limits(limits);
    let hooks = HookRegistry::new();
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    let call = UsingToolPayload {
        session_id: "s".into(),
        cwd: None,
        tool_name: "Bash".into(),
        input: serde_json::json!({ "command": "ls" }),
    };
    assert!(hooks.fire_gating::<UsingTool>(call).await.unwrap().into_result().is_ok());
}

#[tokio::test]
async fn a_leader_that_leaves_its_group_has_no_more_time_than_others() {
    let scripts = Scripts::new();
    let leaves = "import os, signal, time\n\
                  signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
                  os.setpgid(0, os.getpgid(os.getppid()))\n\
                  time.sleep(60)\n";
    let script = scripts.write("leaves-its-group.py", leaves);
    let began = Instant::now();
    let run = Invocation {
        timeout: Duration::from_millis(300),
        ..Invocation::new(Program {
            program: "python3".into(),
            arguments: vec![script.into_os_string()],
        })
    };
    let failure = runner().run(run).await.unwrap_err();
    let took = began.elapsed();
    assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(300)));
    assert!(took < Duration::from_millis(1200), "limit 300 ms, grace 200 ms, took {took:?}");
    eventually("it is gone", || processes("leaves-its-group.py") == 0).await;
}

#[tokio::test]
async fn a_leader_that_leaves_its_group_is_asked_to_end_first() {
    let scripts = Scripts::new();
    let log = scripts.path().join("log");
    let leaves = format!(
        "import os, signal, sys, time\n\
         def end(*_):\n    open({:?}, 'w').write('asked')\n    sys.exit(0)\n\
         signal.signal(signal.SIGTERM, end)\n\
         os.setpgid(0, os.getpgid(os.getppid()))\n\
         time.sleep(60)\n",
        log.display().to_string()
    );
    let script = scripts.write("asked.py", &leaves);
    let line = format!("exec python3 {}", script.display());
    let failure = runner().run(program("sh", &line, Duration::from_millis(800))).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(800)));
    assert_eq!(std::fs::read_to_string(&log).unwrap_or_default(), "asked");
}

#[tokio::test]
async fn one_that_stops_itself_ends_at_its_limit() {
    let began = Instant::now();
    let stops = program("bash", "kill -STOP $$; echo late", Duration::from_millis(200));
    let failure = runner().run(stops).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(200)));
    assert!(began.elapsed() < Duration::from_millis(1200));
}

#[tokio::test]
async fn no_limit_at_all_is_a_limit() {
    let began = Instant::now();
    let failure = runner().run(program("sh", "sleep 60", Duration::ZERO)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Timeout(Duration::ZERO));
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn input_that_is_never_read_or_only_begun_is_no_error() {
    for line in ["exit 0", "exec <&-; echo on", "head -c 10 >/dev/null", "exec >&-; exit 0"] {
        let run = Invocation {
            stdin: vec![b'x'; 8 << 20],
            ..program("bash", line, Duration::from_secs(10))
        };
        assert_eq!(runner().run(run).await.unwrap().exit, Exit::Code(0), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_dropped_at_every_moment_leave_nothing() {
    let mark = "bridge-attack-dropped";
    let runner = Runner::new(Limits { concurrent: 8, ..Limits::default() });
    runner.run(program("true", "", Duration::from_secs(5))).await.ok();
    let before = descriptors();
    let mut runs = Vec::new();
    for index in 0..200u64 {
        let (runner, line) = (
            runner.clone(),
            format!("trap '' TERM; : {mark}; (sleep 33 & ) ; cat >/dev/null; sleep 33"),
        );
        runs.push(tokio::spawn(async move {
            let run = Invocation {
                stdin: vec![b'x'; 200_000],
                ..program("bash", &line, Duration::from_millis(20 + index % 30))
            };
            // Some are dropped before they start, some while they run or in their grace.
            let _ = tokio::time::timeout(Duration::from_millis(index % 60), runner.run(run)).await;
        }));
    }
    for run in runs {
        run.await.unwrap();
    }
    eventually("nothing runs", || processes(mark) == 0).await;
    eventually("nothing to reap", || zombies() == 0).await;
    eventually("no descriptor", || descriptors() <= before + 1).await;
}
