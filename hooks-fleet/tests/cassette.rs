//! Remote handlers whose answers are kept in a file: asked once, given again without a service.

mod support;

use std::path::Path;

use hooks_fleet::{Fleet, LocalNetwork, Sharing, note};
use hooks_runtime::replay::{Cassette, CassetteMode};
use hooks_runtime::{Gate, HookRegistry, Verdict, on};
use support::*;

fn service(log: &Log) -> HookRegistry {
    let log = log.clone();
    let judge = move |command: &RunningPayload| -> Result<Verdict<RunningPayload>, &'static str> {
        log.push(&*command.line);
        match &*command.line {
            "rm notes" => Ok(Verdict::reject("nothing is deleted")),
            "ls " => Ok(Verdict::Replace(RunningPayload { line: "ls".into() })),
            "hm" => Err("the rule book is gone"),
            _ => Ok(Verdict::Pass),
        }
    };
    let hooks = HookRegistry::new();
    hooks.register(on::<Running>().name("judge").handler(judge)).unwrap();
    hooks
}

async fn share(network: &LocalNetwork, hooks: &HookRegistry, cassette: &Cassette) -> Sharing {
    let fleet = Fleet::local(network, options("agent")).unwrap();
    let share = fleet.share::<Running>(hooks).require::<Running>("policy", "judge");
    share.cassette(cassette).start().await.unwrap()
}

/// What the fires of these commands come to.
async fn day(network: &LocalNetwork, file: &Path, mode: CassetteMode) -> Vec<String> {
    let hooks = HookRegistry::new();
    let cassette = Cassette::open(file, mode).unwrap();
    let _sharing = share(network, &hooks, &cassette).await;
    let mut came = Vec::new();
    for line in ["pwd", "rm notes", "ls ", "hm", "pwd"] {
        let (fired, report) = hooks.fire_gating_reported::<Running>(command(line)).await;
        let is_taped = mode == CassetteMode::None;
        let outcome = report.handler("judge").unwrap().note(note::OUTCOME).unwrap();
        assert_eq!(outcome == "from the cassette", is_taped, "{outcome}");
        came.push(match fired {
            Ok(Gate::Passed(command)) => command.line,
            Ok(Gate::Rejected(rejection)) => format!("rejected: {}", rejection.reason()),
            Err(error) => error.to_string(),
        });
    }
    assert_eq!(cassette.unused(), 0);
    came
}

/// L37, L38: what a service answered, and that it failed, is given again where no process serves
/// it.
#[tokio::test]
async fn l37_what_a_service_answered_is_given_again_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.jsonl");
    let log = Log::default();
    let recorded = {
        let network = LocalNetwork::new();
        let _serving = serve_running(&network, "policy", &service(&log)).await;
        day(&network, &file, CassetteMode::Once).await
    };
    assert_eq!(recorded[..3], ["pwd", "rejected: nothing is deleted", "ls"]);
    assert!(recorded[3].contains("the rule book is gone"), "{}", recorded[3]);
    assert_eq!(log.take(), ["pwd", "rm notes", "ls ", "hm", "pwd"]);

    // Nobody is there, and where somebody is, nobody is asked.
    assert_eq!(day(&LocalNetwork::new(), &file, CassetteMode::None).await, recorded);
    let network = LocalNetwork::new();
    let _serving = serve_running(&network, "policy", &service(&log)).await;
    assert_eq!(day(&network, &file, CassetteMode::None).await, recorded);
    assert!(log.take().is_empty());
}

/// L37: what is not in the cassette is a failure, which closes a gate; the service is not asked.
#[tokio::test]
async fn l37_what_was_not_recorded_is_a_failure_and_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.jsonl");
    std::fs::write(&file, "").unwrap();
    let (network, log) = (LocalNetwork::new(), Log::default());
    let _serving = serve_running(&network, "policy", &service(&log)).await;
    let hooks = HookRegistry::new();
    let cassette = Cassette::open(&file, CassetteMode::None).unwrap();
    let _sharing = share(&network, &hooks, &cassette).await;
    let error = hooks.fire_gating::<Running>(command("pwd")).await.unwrap_err().to_string();
    let expected = "`running:policy/judge` was asked what is not in the cassette";
    assert!(error.contains(expected), "{error}");
    assert!(log.take().is_empty());
}
