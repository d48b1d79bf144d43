//! Commands whose processes leave group and session: nothing of them is left either, where
//! there is `/proc`.
#![cfg(target_os = "linux")]

mod support;

use std::time::Duration;

use hooks_bridge::runner::{Cause, Descendants, Exit, Invocation, Limits, Program, Ran, Runner};
use support::{Scripts, eventually, nap, processes, zombies};

fn runner(descendants: Descendants) -> Runner {
    Runner::new(Limits { grace: Duration::from_millis(100), descendants, ..Limits::default() })
}

fn bash(line: &str) -> Invocation {
    Invocation { timeout: Duration::from_secs(20), ..Invocation::new(Program::shell("bash", line)) }
}

/// Each starts a process that is in no group and no session of the command's, and whose
/// parent is gone. All but the last wait until it has left.
const DAEMONS: [&str; 6] = [
    "setsid sh -c 'touch GONE; sleep NAP' & AWAIT",
    "setsid sh -c 'touch GONE; exec sleep NAP' </dev/null >/dev/null 2>&1 & AWAIT",
    "(setsid sh -c 'setsid sh -c \"touch GONE; sleep NAP\" >/dev/null 2>&1 & exit 0' &); AWAIT",
    "setsid sh -c 'trap \"\" TERM HUP; cd /; touch GONE; sleep NAP' >/dev/null 2>&1 & AWAIT",
    "for each in 1 2 3 4 5 6 7 8; do setsid -f sleep NAP >/dev/null 2>&1; done",
    "setsid sleep NAP >/dev/null 2>&1 & exit 0",
];

#[tokio::test]
async fn a_daemon_ends_with_the_command_that_began_it() {
    for (index, line) in DAEMONS.iter().enumerate() {
        let (scripts, nap) = (Scripts::new(), nap(81 + u32::try_from(index).unwrap()));
        let gone = scripts.path().join("gone").display().to_string();
        let line = line.replace("AWAIT", "until [ -e GONE ]; do sleep 0.01; done");
        let line = line.replace("GONE", &gone).replace("NAP", &nap);
        let ran = runner(Descendants::Kill).run(bash(&line)).await.unwrap();
        assert_eq!(ran.exit, Exit::Code(0), "{line}");
        assert_eq!(processes(&nap), 0, "{line}");
    }
}

#[tokio::test]
async fn a_daemon_ends_with_a_command_that_is_ended() {
    let nap = nap(91);
    let line = format!("setsid -f sleep {nap} >/dev/null 2>&1; sleep {nap}");
    let late = Invocation { timeout: Duration::from_millis(400), ..bash(&line) };
    for descendants in [Descendants::Kill, Descendants::Leave] {
        let failure = runner(descendants).run(late.clone()).await.unwrap_err();
        assert_eq!(failure.cause, Cause::Timeout(Duration::from_millis(400)));
        assert_eq!(processes(&nap), 0, "its limit");
    }
    let talkative = format!("setsid -f sleep {nap} >/dev/null 2>&1; yes");
    let failure = runner(Descendants::Kill).run(bash(&talkative)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::TooLarge(1 << 20));
    assert_eq!(processes(&nap), 0, "too much output");
}

#[tokio::test]
async fn l25_a_daemon_ends_with_a_dropped_run() {
    let (scripts, nap) = (Scripts::new(), nap(92));
    let started = scripts.path().join("started");
    let line =
        format!("setsid -f sleep {nap} >/dev/null 2>&1; touch {}; sleep {nap}", started.display());
    let run = tokio::spawn(async move { runner(Descendants::Kill).run(bash(&line)).await });
    eventually("it has started", || started.exists()).await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    eventually("nothing of it is left", || processes(&nap) == 0).await;
    eventually("no zombie", || zombies() == 0).await;
}

#[tokio::test]
async fn a_daemon_that_may_be_left_is_left() {
    let nap = nap(3);
    let line = format!("setsid -f sleep {nap} >/dev/null 2>&1");
    let ran = runner(Descendants::Leave).run(bash(&line)).await.unwrap();
    assert_eq!(ran.exit, Exit::Code(0));
    eventually("it goes on", || processes(&nap) == 1).await;
}

/// The daemons of one run are not those of another.
#[tokio::test]
async fn a_daemon_of_another_run_goes_on() {
    let (theirs, own) = (nap(4), nap(93));
    let daemon = |nap: &str| bash(&format!("setsid -f sleep {nap} >/dev/null 2>&1"));
    runner(Descendants::Leave).run(daemon(&theirs)).await.unwrap();
    eventually("it goes on", || processes(&theirs) == 1).await;
    runner(Descendants::Kill).run(daemon(&own)).await.unwrap();
    assert_eq!((processes(&own), processes(&theirs)), (0, 1));
}

async fn environment(more: &[(&str, &str)]) -> Ran {
    let more = more.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let environment = hooks_bridge::runner::Environment::empty().allow("PATH").variables(more);
    runner(Descendants::Kill).run(Invocation { environment, ..bash("env") }).await.unwrap()
}

fn mark(ran: &Ran) -> String {
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("HOOKS_BRIDGE_RUN=")).unwrap();
    line.to_owned()
}

#[tokio::test]
async fn each_run_has_a_mark_of_its_own_which_nothing_overrides() {
    let (one, other) = (environment(&[]).await, environment(&[]).await);
    assert_ne!(mark(&one), mark(&other));
    let forged = environment(&[("HOOKS_BRIDGE_RUN", "none")]).await;
    assert!(mark(&forged).starts_with("HOOKS_BRIDGE_RUN=") && !mark(&forged).ends_with("=none"));
}
