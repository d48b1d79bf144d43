//! The runner against commands that misbehave: each has a clear end, within its limit.

mod support;

use std::time::{Duration, Instant};

use hooks_bridge::runner::{
    Cause, Descendants, Environment, Exit, Failure, Invocation, Limits, Program, Ran, Runner,
};
use support::{Scripts, eventually, nap, processes, zombies};

fn runner() -> Runner {
    Runner::new(Limits { grace: Duration::from_millis(200), ..Limits::default() })
}

fn bash(line: &str) -> Invocation {
    Invocation { timeout: Duration::from_secs(20), ..Invocation::new(Program::shell("bash", line)) }
}

fn within(limit: u64, invocation: Invocation) -> Invocation {
    Invocation { timeout: Duration::from_millis(limit), ..invocation }
}

async fn ran(line: &str) -> Ran {
    runner().run(bash(line)).await.expect("it ends by itself")
}

fn timed_out(result: Result<Ran, Failure>, limit: u64) {
    let failure = result.expect_err("it does not end by itself");
    assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(limit)));
    assert!(failure.started);
}

#[tokio::test]
async fn code_output_and_the_end_of_stderr() {
    let ran = ran("echo out; echo err >&2; exit 7").await;
    assert_eq!(ran.exit, Exit::Code(7));
    assert_eq!(ran.stdout, b"out\n");
    assert_eq!(ran.stderr, "err\n");
}

#[tokio::test]
async fn death_by_a_signal_is_no_code() {
    assert_eq!(ran("kill -9 $$").await.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_program_that_is_not_there_was_never_started() {
    let missing = Program { program: "no-such-program-here".into(), arguments: Vec::new() };
    let failure = runner().run(Invocation::new(missing)).await.unwrap_err();
    assert!(
        matches!(&failure.cause, Cause::Spawn(error) if error.contains("no-such-program-here"))
    );
    assert!(!failure.started);
}

#[tokio::test]
async fn input_that_is_never_read_is_no_error() {
    let input = vec![b'x'; 4 << 20];
    let ran = runner().run(Invocation { stdin: input, ..bash("echo done") }).await.unwrap();
    assert_eq!((ran.exit, ran.stdout), (Exit::Code(0), b"done\n".to_vec()));
}

#[tokio::test]
async fn input_that_is_never_read_does_not_outlast_the_limit() {
    let input = vec![b'x'; 4 << 20];
    let began = Instant::now();
    let hang = within(300, Invocation { stdin: input, ..bash("sleep 60") });
    timed_out(runner().run(hang).await, 300);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn both_outputs_are_read_while_input_is_written() {
    // Each of the three is larger than a pipe; in any order but at once it would hang.
    let line = "head -c 700000 /dev/zero >&2; head -c 700000 /dev/zero; cat >/dev/null";
    let ran = runner().run(Invocation { stdin: vec![b'x'; 1 << 20], ..bash(line) }).await.unwrap();
    assert_eq!((ran.exit, ran.stdout.len()), (Exit::Code(0), 700_000));
    assert_eq!(ran.stderr.len(), 8 * 1024);
}

#[tokio::test]
async fn large_input_reaches_a_command_that_reads_it() {
    let input = vec![b'x'; 3 << 20];
    let ran = runner().run(Invocation { stdin: input, ..bash("wc -c") }).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), (3 << 20).to_string());
}

#[tokio::test]
async fn output_without_end_is_cut_off() {
    let began = Instant::now();
    let failure = runner().run(bash("yes")).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooLarge(1 << 20));
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_command_that_ignores_term_is_killed_after_the_grace() {
    let began = Instant::now();
    let nap = nap(70);
    let hang = within(200, bash(&format!("trap '' TERM; while :; do sleep {nap}; done")));
    timed_out(runner().run(hang).await, 200);
    assert!(began.elapsed() >= Duration::from_millis(400), "the grace was given");
    assert!(began.elapsed() < Duration::from_secs(5));
    eventually("the whole group is gone", || processes(&nap) == 0).await;
}

#[tokio::test]
async fn a_command_that_heeds_term_ends_in_its_own_way() {
    let scripts = Scripts::new();
    let said = scripts.path().join("said");
    let line = format!("trap 'echo bye > {}; exit 0' TERM; sleep 60 & wait", said.display());
    timed_out(runner().run(within(200, bash(&line))).await, 200);
    assert_eq!(std::fs::read_to_string(said).unwrap(), "bye\n");
}

#[tokio::test]
async fn a_background_process_that_holds_the_pipes_does_not_hold_the_run() {
    let began = Instant::now();
    let nap = nap(71);
    assert_eq!(ran(&format!("sleep {nap} & echo first")).await.stdout, b"first\n");
    assert!(began.elapsed() < Duration::from_secs(5));
    eventually("what it left behind is killed", || processes(&nap) == 0).await;
}

#[tokio::test]
async fn a_daemon_outside_the_group_does_not_hold_the_run_either() {
    let began = Instant::now();
    assert_eq!(ran("setsid sleep 3 & echo first").await.stdout, b"first\n");
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn what_is_left_behind_may_be_left() {
    let (limits, nap) = (Limits { descendants: Descendants::Leave, ..Limits::default() }, nap(2));
    let ran = Runner::new(limits)
        .run(bash(&format!("sleep {nap} >/dev/null 2>&1 & echo $!")))
        .await
        .unwrap();
    assert_eq!(ran.exit, Exit::Code(0));
    assert_eq!(processes(&nap), 1);
}

#[tokio::test]
async fn l25_a_dropped_run_kills_its_group() {
    let scripts = Scripts::new();
    let started = scripts.path().join("started");
    let nap = nap(72);
    let line = format!("sleep {nap} & touch {}; sleep {nap}", started.display());
    let runner = runner();
    let run = tokio::spawn(async move { runner.run(bash(&line)).await });
    eventually("it has started", || started.exists()).await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    eventually("nothing of it is left", || processes(&nap) == 0).await;
    eventually("no zombie", || zombies() == 0).await;
}

#[tokio::test]
async fn only_so_many_run_at_once_and_waiting_is_on_ones_own_time() {
    let limits = Limits { concurrent: 1, ..Limits::default() };
    let runner = Runner::new(limits);
    let first = runner.run(within(400, bash("sleep 60")));
    let second = runner.run(within(50, bash("echo second")));
    let (first, second) = tokio::join!(first, second);
    timed_out(first, 400);
    let failure = second.unwrap_err();
    assert_eq!(failure.cause, Cause::Busy(Duration::from_millis(50)));
    assert!(!failure.started, "it cannot have had effects");
}

#[tokio::test]
async fn the_environment_is_what_is_allowed_and_nothing_else() {
    let environment = Environment::empty().allow("PATH").variables([("A".into(), "b c".into())]);
    let ran = runner().run(Invocation { environment, ..bash("env") }).await.unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    let mut names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !["PWD", "SHLVL", "_"].contains(name)); // the shell's own
    names.sort_unstable();
    // Beside the mark by which processes are found that left the group.
    assert_eq!(names, ["A", Runner::MARK, "PATH"]);
    assert!(text.contains("A=b c\n"));
}

#[tokio::test]
async fn no_login_shell() {
    let scripts = Scripts::new();
    scripts.write(".profile", "echo noise\n");
    scripts.write(".bash_profile", "echo noise\n");
    let environment = Environment::empty()
        .allow("PATH")
        .variables([("HOME".into(), scripts.path().as_os_str().to_owned())]);
    let ran = runner().run(Invocation { environment, ..bash("echo clean") }).await.unwrap();
    assert_eq!(ran.stdout, b"clean\n");
}
