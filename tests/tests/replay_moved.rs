//! Fires whose replay ends before a handler that has another place today.

mod replay_support;

use hooks_runtime::handler::On;
use hooks_runtime::replay::{FireVerdict, ReplayReport, replay};
use hooks_runtime::{HookRegistry, Judgement, Registration, hook_points, on};
use replay_support::{Folder, record};

hook_points! {
    #![hook(json = "camelCase", catalogue = pub fn points)]

    /// Before a command is run.
    pub gating Running { line: String }
}

fn of(plugin: &str, name: &'static str, priority: i32) -> On<Running> {
    on::<Running>().plugin(plugin).name(name).priority(priority)
}

/// Decides by the payload alone.
fn no_rm(priority: i32) -> Registration {
    of("safety", "no_rm", priority).pure().guard(|command: &RunningPayload| {
        if command.line.starts_with("rm") { Judgement::reject("no") } else { Judgement::Pass }
    })
}

/// Asks others: a replay does not call it.
fn asks(priority: i32) -> Registration {
    of("audit", "asks", priority).guard(|_: &RunningPayload| Judgement::Pass)
}

async fn replayed(then: Vec<Registration>, now: Vec<Registration>) -> ReplayReport {
    let folder = Folder::new();
    let file = folder.file("day.jsonl");
    let hooks = HookRegistry::new();
    hooks.register(then).unwrap();
    let recording = record(&hooks, &points(), &file);
    let command = RunningPayload { line: "rm -r .".into() };
    let _ = hooks.fire_gating::<Running>(command).await.unwrap();
    recording.close().await;
    let today = HookRegistry::new();
    today.register(now).unwrap();
    replay(&file).catalogue(&points()).against(&today).run().await.unwrap()
}

#[tokio::test]
async fn l38_a_handler_behind_the_end_of_a_replay_is_not_gone() {
    // It rejected, so the other was not asked. Today the other comes first, and has no answer:
    // what the fire comes to cannot be told.
    let report = replayed(vec![no_rm(0), asks(1)], vec![asks(0), no_rm(1)]).await;
    let reason = "`audit/asks` is not called, and it was not called then (after_rejection)";
    let fire = &report.fires[0];
    assert_eq!(fire.verdict, FireVerdict::Cannot { reason: reason.into() });
    assert_eq!(fire.differences, []);
}

#[tokio::test]
async fn l38_a_handler_that_has_passed_the_end_of_a_replay_is_not_gone() {
    // The same, where another handler is between the two that changed places.
    let idle = |priority| {
        of("safety", "idle", priority).pure().guard(|_: &RunningPayload| Judgement::Pass)
    };
    let then = vec![no_rm(0), idle(1), asks(2)];
    let report = replayed(then, vec![idle(0), asks(1), no_rm(2)]).await;
    let fire = &report.fires[0];
    let kinds: Vec<_> = fire.differences.iter().map(ToString::to_string).collect();
    assert_eq!(kinds, ["called    safety/idle: not called: after_rejection -> passed"]);
}

#[tokio::test]
async fn l38_a_handler_that_is_gone_is_told_also_where_the_replay_ends_early() {
    let report = replayed(vec![no_rm(0), asks(1)], vec![asks(0)]).await;
    let fire = &report.fires[0];
    let kinds: Vec<_> = fire.differences.iter().map(ToString::to_string).collect();
    assert_eq!(kinds, ["removed   safety/no_rm: rejected: no -> not there"]);
}
