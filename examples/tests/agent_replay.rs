//! A recorded day of the agent, replayed against its handlers.

use std::path::PathBuf;

use hooks_examples::house::House;
use hooks_examples::recorded::Recorded;
use hooks_examples::replayed::{replay_of, shadow};
use hooks_examples::{day, view};
use hooks_runtime::replay::{DifferenceKind, FireReplay};
use tempfile::TempDir;

/// A day of a house, in a file.
async fn recorded(house: &House, folder: &TempDir) -> PathBuf {
    let file = folder.path().join("day.jsonl");
    let recording = Recorded::start(house.agent.hooks(), &file).expect("a recording");
    day::live(house, drop).await.expect("a day");
    let said = recording.close().await;
    assert!(said.ends_with(" fires"), "none is left out: {said}");
    file
}

fn about(fire: &FireReplay, field: &str) -> String {
    fire.payload.as_ref().and_then(|payload| payload.pointer(field)).expect("a field").to_string()
}

/// L38: against the handlers of another process, nothing differs; what depends on others is
/// not called.
#[tokio::test]
async fn l38_a_recorded_day_replays_with_no_difference() {
    let folder = TempDir::new().expect("a folder");
    let file = recorded(&day::house().expect("a house"), &folder).await;
    let today = day::house().expect("a house");
    for recompose in [false, true] {
        let replay = replay_of(&file, today.agent.hooks());
        let replay = if recompose { replay.recompose() } else { replay };
        let report = replay.run().await.expect("a replay");
        assert_eq!(report.changed().count(), 0, "{report}");
        assert!(report.unread.is_empty());
        assert_eq!(report.cannot().count(), 0, "{:?}", report.cannot().next());
        assert!(report.same().count() > 150, "{report}");
        let of_tools = report.same().filter(|fire| fire.model == "flow").count();
        assert!(of_tools > 10, "calls of tools too: {of_tools}");
    }
    assert_eq!(today.plugins.audit.rows().expect("rows"), [], "nothing was called");
    assert!(today.plugins.sessions.lines().is_empty());
}

/// L38: without the allowlist exactly the commands differ that it refused.
#[tokio::test]
async fn l38_without_the_allowlist_exactly_the_refused_commands_differ() {
    let folder = TempDir::new().expect("a folder");
    let file = recorded(&day::house().expect("a house"), &folder).await;
    let today = day::house().expect("a house");
    let replay = replay_of(&file, today.agent.hooks()).without("allowlist");
    let report = replay.run().await.expect("a replay");
    let changed: Vec<_> = report.changed().collect();
    let commands: Vec<_> = changed.iter().map(|it| about(it, "/args/command")).collect();
    assert_eq!(commands, ["\"rm -rf .\""]);
    assert_eq!(changed[0].by(), Some("allowlist/known_commands"));
    assert_eq!(changed[0].differences[0].kind, DifferenceKind::Removed);
    let (then, now) = (&changed[0].recorded, changed[0].replayed.as_ref().expect("a replay"));
    assert_eq!((&*then.outcome, &*now.outcome), ("amended", "unchanged"));
    let table = view::replay_table(&report);
    let rows: Vec<_> = table.lines().take(3).collect();
    let number = changed[0].fire;
    assert_eq!(
        rows,
        [
            "fire  point             difference  handler                   recorded   replayed"
                .to_owned(),
            format!(
                "{number:<4}  before_tool_call  removed     allowlist/known_commands  set error  not there"
            ),
            "                        outcome                               amended    unchanged"
                .to_owned(),
        ]
    );
}

/// A house whose guard only watches.
fn in_shadow() -> House {
    let house = day::house().expect("a house");
    shadow(house.agent.hooks(), "privacy/no_passwords").expect("a setting");
    house
}

/// L36, L38: a guard that was in shadow, lifted, rejects exactly what it would have rejected.
#[tokio::test]
async fn l36_a_guard_lifted_out_of_shadow_rejects_exactly_what_it_would_have() {
    let folder = TempDir::new().expect("a folder");
    let file = recorded(&in_shadow(), &folder).await;
    let today = in_shadow();
    replay_of(&file, today.agent.hooks()).assert_same().await;
    let replay = replay_of(&file, today.agent.hooks()).shadow_lifted("privacy/no_passwords");
    let report = replay.run().await.expect("a replay");
    let rejected: Vec<_> = report.changed().map(|it| about(it, "/content")).collect();
    assert_eq!(rejected, ["\"What is the password of the database?\""]);
    let rejection = report.changed().next().expect("a fire");
    assert_eq!(rejection.by(), Some("privacy/no_passwords"));
    assert_eq!(rejection.replayed.as_ref().expect("a replay").outcome, "rejected");
}

/// L35, L38: a handler that fails open, tightened, ends the fires in which it failed.
#[tokio::test]
async fn l38_a_tightened_handler_ends_the_fires_in_which_it_failed() {
    let folder = TempDir::new().expect("a folder");
    let file = recorded(&day::house().expect("a house"), &folder).await;
    let today = day::house().expect("a house");
    let replay = replay_of(&file, today.agent.hooks()).tighten("analytics/round_trip");
    let report = replay.run().await.expect("a replay");
    assert!(report.changed().count() > 0);
    for fire in report.changed() {
        assert_eq!((&*fire.point, fire.by()), ("after_llm_call", Some("analytics/round_trip")));
        assert_eq!(fire.replayed.as_ref().expect("a replay").outcome, "failed");
    }
}
