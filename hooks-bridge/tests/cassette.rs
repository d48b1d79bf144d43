//! Commands whose answers are kept in a file: asked once, given again without a process.

mod support;

use std::fs;
use std::path::Path;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::runner::{Cause, Failure};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind, Facts, Mode};
use hooks_points::lifecycle::{BeforeToolCall, BeforeToolCallPayload};
use hooks_runtime::error::{FailureKind, FireError};
use hooks_runtime::replay::{Cassette, CassetteMode};
use hooks_runtime::{Gate, HookRegistry, hook_points};
use serde_json::json;
use support::Scripts;

hook_points! {
    /// A session is over.
    pub void Closed { id: u32 }
}

impl CommandPoint for Closed {
    const KIND: EventKind = EventKind::SessionEnd;

    fn facts(_: &ClosedPayload) -> Facts {
        Facts::default()
    }
}

/// Writes a line for each run, denies `rm` with what is in the folder of the project, fails at
/// `sleep` and has no opinion of the rest.
const GUARD: &str = r#"#!/usr/bin/env bash
echo run >> runs
input=$(cat)
case "$input" in
    *'"rm '*) echo "nothing is deleted in $PWD" >&2; exit 2 ;;
    *'"sleep'*) sleep 60 ;;
    *'"noise'*) printf '\377\376'; exit 0 ;;
esac
"#;

const COMMANDS: [&str; 5] = ["ls", "rm notes", "sleep 9", "ls", "noise"];

fn project() -> Scripts {
    let scripts = Scripts::new();
    scripts.script("guard.sh", GUARD);
    scripts
}

fn runs(project: &Scripts) -> usize {
    fs::read_to_string(project.path().join("runs")).map_or(0, |runs| runs.lines().count())
}

fn hooks(project: &Scripts, cassette: &Cassette, mode: Mode) -> HookRegistry {
    let text = r#"{ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
        { "type": "command", "command": "./guard.sh", "timeout": 1 } ] } ] } }"#;
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, text, project.path());
    let bridge = Bridge::new(project.path(), plan).mode(mode).trust(Trust::everything());
    let bridge = bridge.tool("run_command", "Bash");
    let hooks = HookRegistry::new();
    hooks.register(bridge.cassette(cassette).gate::<BeforeToolCall>()).unwrap();
    hooks
}

/// What a gate came to, and of a failure whether the command may have run.
async fn asked(hooks: &HookRegistry, project: &Scripts, command: &str) -> String {
    let call = BeforeToolCallPayload {
        tool_name: "run_command".into(),
        parameters: json!({ "command": command, "folder": project.path() }),
        user_id: "user-1".into(),
        context: "chat".into(),
    };
    let said = match hooks.fire_gating::<BeforeToolCall>(call).await {
        Ok(Gate::Passed(_)) => "passed".to_owned(),
        Ok(Gate::Rejected(rejection)) => format!("rejected: {}", rejection.reason()),
        Err(error) => {
            let failure = failure(&error);
            format!("failed: {failure}, started: {}", failure.started)
        }
    };
    said.replace(project.path().to_str().unwrap(), "FOLDER")
}

fn failure(error: &FireError) -> &Failure {
    let FireError::Failed(failed) = error else { panic!("{error}") };
    let FailureKind::Error(error) = failed.kind() else { panic!("{failed}") };
    error.downcast_ref().expect("a failure of a command")
}

async fn day(project: &Scripts, file: &Path, mode: CassetteMode) -> Vec<String> {
    let cassette = Cassette::open(file, mode).unwrap();
    let hooks = hooks(project, &cassette, Mode::Strict);
    let mut said = Vec::new();
    for command in COMMANDS {
        said.push(asked(&hooks, project, command).await);
    }
    assert_eq!(cassette.unused(), 0);
    said
}

/// L37, L38: a decision, no opinion and a failure are given again as they were, in another
/// folder too, and nothing is run.
#[tokio::test]
async fn l37_what_commands_came_to_is_given_again_and_none_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guard.jsonl");
    let (here, elsewhere) = (project(), project());

    let recorded = day(&here, &file, CassetteMode::Once).await;
    assert_eq!(
        recorded,
        [
            "passed",
            "rejected: nothing is deleted in FOLDER",
            "failed: no answer within 1s, started: true",
            "passed",
            "failed: stdout is no answer: it is not UTF-8, from byte 0, started: true",
        ]
    );
    assert_eq!(runs(&here), COMMANDS.len());
    assert!(!fs::read_to_string(&file).unwrap().contains(here.path().to_str().unwrap()));

    assert_eq!(day(&elsewhere, &file, CassetteMode::None).await, recorded);
    assert_eq!(runs(&elsewhere), 0, "nothing was run");
}

/// L37: what is not in the cassette is a failure, never no opinion, in either mode of the
/// bridge; the command is not run.
#[tokio::test]
async fn l37_what_was_not_recorded_is_a_failure_of_a_command_that_did_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guard.jsonl");
    let project = project();
    day(&project, &file, CassetteMode::Once).await;
    let before = runs(&project);
    for mode in [Mode::Strict, Mode::Faithful] {
        let cassette = Cassette::open(&file, CassetteMode::None).unwrap();
        let hooks = hooks(&project, &cassette, mode);
        let call = BeforeToolCallPayload {
            tool_name: "run_command".into(),
            parameters: json!({ "command": "cp a b" }),
            user_id: "user-1".into(),
            context: "chat".into(),
        };
        let (gate, report) = hooks.fire_gating_reported::<BeforeToolCall>(call).await;
        let row = report.handler("guard.sh").unwrap().status().to_string();
        assert!(
            row.contains("`claude-code/guard.sh` was asked what is not in the cassette"),
            "{row}"
        );
        if mode == Mode::Strict {
            let error = gate.unwrap_err();
            let failure = failure(&error);
            assert!(matches!(failure.cause, Cause::Cassette(_)));
            assert!(!failure.started);
        }
    }
    assert_eq!(runs(&project), before);
}

/// L38: a command that nothing waits for is not started either, where that is in the cassette.
#[tokio::test]
async fn l38_a_command_in_the_background_is_not_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    let project = Scripts::new();
    project.script("log.sh", "#!/usr/bin/env bash\necho run >> runs\n");
    let text = r#"{ "hooks": { "SessionEnd": [ { "hooks": [
        { "type": "command", "command": "./log.sh", "async": true } ] } ] } }"#;
    let end_session = async |mode| {
        let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
        let plan = Plan::read_text(&source, text, project.path());
        let cassette = Cassette::open(&file, mode).unwrap();
        let hooks = HookRegistry::new();
        let bridge = Bridge::new(project.path(), plan).trust(Trust::everything());
        hooks.register(bridge.cassette(&cassette).observe::<Closed>()).unwrap();
        assert_eq!(hooks.handlers_at::<Closed>().len(), 1);
        hooks.fire_void::<Closed>(&ClosedPayload { id: 7 }).await.unwrap();
        cassette
    };
    let recorded = end_session(CassetteMode::Once).await;
    support::eventually("the run is recorded", || recorded.recorded() == 1).await;
    assert_eq!(runs(&project), 1);

    let given = end_session(CassetteMode::None).await;
    support::eventually("the answer is given", || given.unused() == 0).await;
    assert_eq!(runs(&project), 1);
}

/// One gate of a dialect with these commands, whose answers are in a cassette.
async fn gate(
    project: &Scripts,
    (dialect, commands): (Dialect, &[&str]),
    file: &Path,
    mode: CassetteMode,
) -> String {
    let handlers: Vec<_> = commands
        .iter()
        .map(|command| json!({ "type": "command", "command": command, "bash": command }))
        .collect();
    let event = match dialect {
        Dialect::Gemini => "BeforeTool",
        Dialect::Cursor | Dialect::Copilot => "preToolUse",
        _ => "PreToolUse",
    };
    let hooks = match dialect {
        Dialect::Cursor | Dialect::Copilot => json!({ event: handlers }),
        _ => json!({ event: [ { "hooks": handlers } ] }),
    };
    let text = json!({ "version": 1, "hooks": hooks }).to_string();
    let source = Source::new(dialect, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, &text, project.path());
    let bridge = Bridge::new(project.path(), plan).trust(Trust::everything());
    let hooks = HookRegistry::new();
    let cassette = Cassette::open(file, mode).unwrap();
    hooks.register(bridge.cassette(&cassette).gate::<BeforeToolCall>()).unwrap();
    asked(&hooks, project, "rm notes").await
}

/// L38: what is given again is so in every dialect, though some tell a command the time.
#[tokio::test]
async fn l38_the_time_is_no_part_of_what_a_command_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let project = project();
    for dialect in Dialect::ALL {
        let file = folder.path().join(dialect.as_str());
        let recorded = gate(&project, (dialect, &["./guard.sh"]), &file, CassetteMode::Once).await;
        assert_eq!(recorded, "rejected: nothing is deleted in FOLDER", "{dialect}");
        // The clock that stdin has in some dialects counts milliseconds.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let given = gate(&project, (dialect, &["./guard.sh"]), &file, CassetteMode::None).await;
        assert_eq!(given, recorded, "{dialect}");
    }
}

/// L37: what another command said is no answer, also where it had the same name.
#[tokio::test]
async fn l37_a_command_is_not_given_the_answer_of_another_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let project = Scripts::new();
    project.script("a/guard.sh", "#!/bin/sh\nexit 0\n");
    project.script("b/guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n");
    let file = folder.path().join("guards.jsonl");
    let both = (Dialect::ClaudeCode, &["a/guard.sh", "b/guard.sh"][..]);
    let recorded = gate(&project, both, &file, CassetteMode::Once).await;
    assert_eq!(recorded, "rejected: no");
    assert_eq!(gate(&project, both, &file, CassetteMode::None).await, recorded);
    // The second has the name of the first now.
    let second = (Dialect::ClaudeCode, &["b/guard.sh"][..]);
    let given = gate(&project, second, &file, CassetteMode::None).await;
    assert!(
        given.contains("`claude-code/guard.sh` was asked what is not in the cassette"),
        "{given}"
    );
    assert!(given.ends_with("started: false"), "{given}");
}

/// L37: a recorded answer lets nothing pass that would not have been run.
#[tokio::test]
async fn l37_a_recorded_answer_opens_no_gate_of_what_may_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guard.jsonl");
    let project = Scripts::new();
    project.script("guard.sh", "#!/bin/sh\nexit 0\n");
    let text = r#"{ "hooks": { "PreToolUse": [ { "hooks": [
        { "type": "command", "command": "./guard.sh" } ] } ] } }"#;
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::Project);
    let plan = Plan::read_text(&source, text, project.path());
    let mut grants = hooks_bridge::trust::Grants::default();
    grants.add(&plan.entries[0], project.path()).unwrap();
    let registry = |trust: Trust, mode| {
        let cassette = Cassette::open(&file, mode).unwrap();
        let bridge = Bridge::new(project.path(), plan.clone()).trust(trust).cassette(&cassette);
        let hooks = HookRegistry::new();
        hooks.register(bridge.gate::<BeforeToolCall>()).unwrap();
        hooks
    };
    let granted = registry(Trust::granted(grants.clone()), CassetteMode::Once);
    assert_eq!(asked(&granted, &project, "ls").await, "passed");

    let untrusted = registry(Trust::default(), CassetteMode::None);
    assert_eq!(untrusted.handlers_at::<BeforeToolCall>().len(), 0, "it is no handler at all");
    let given = registry(Trust::granted(grants), CassetteMode::None);
    project.script("guard.sh", "#!/bin/sh\nexit 2\n");
    assert_eq!(
        asked(&given, &project, "ls").await,
        "failed: `FOLDER/guard.sh` has changed since it was granted; grant it again to run it, started: false"
    );
}

/// L37: nor of an address that is not allowed any more.
#[cfg(feature = "http")]
#[tokio::test]
async fn l37_a_recorded_answer_opens_no_gate_of_an_address_that_is_not_allowed() {
    use hooks_bridge::http::Http;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("address.jsonl");
    let project = Scripts::new();
    let text = r#"{ "hooks": { "PreToolUse": [ { "hooks": [
        { "type": "http", "url": "http://127.0.0.1:9/gate" } ] } ] } }"#;
    let source = Source::new(Dialect::ClaudeCode, "settings.json", Origin::User);
    let plan = Plan::read_text(&source, text, project.path());
    let registry = |http: Http, mode| {
        let cassette = Cassette::open(&file, mode).unwrap();
        let bridge = Bridge::new(project.path(), plan.clone()).http(http).cassette(&cassette);
        let hooks = HookRegistry::new();
        hooks.register(bridge.gate::<BeforeToolCall>()).unwrap();
        hooks
    };
    let allowed = || Http::default().address("http://127.0.0.1:9/gate").unwrap();
    // Nothing listens there; what came of it is written over with an answer that passes.
    let refused = asked(&registry(allowed(), CassetteMode::Once), &project, "ls").await;
    assert!(refused.starts_with("failed: "), "{refused}");
    let mut line: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    line["answer"] = json!({ "exit": { "code": 0, "stdout": "{}", "stderr": "" } });
    fs::write(&file, line.to_string()).unwrap();
    let given = registry(allowed(), CassetteMode::None);
    assert_eq!(asked(&given, &project, "ls").await, "passed");
    let given = registry(Http::default(), CassetteMode::None);
    let refused = asked(&given, &project, "ls").await;
    assert!(refused.contains("is not among the addresses that the host allows"), "{refused}");
    assert!(refused.ends_with("started: false"), "{refused}");
}

/// L37: what is in the file and no answer is a failure, and so is what cannot be recorded,
/// of a command that did run then.
#[tokio::test]
async fn l37_a_cassette_that_is_torn_or_cannot_be_written_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("guard.jsonl");
    let project = Scripts::new();
    project.script("guard.sh", "#!/bin/sh\nexit 0\n");
    let one = (Dialect::ClaudeCode, &["./guard.sh"][..]);
    assert_eq!(gate(&project, one, &file, CassetteMode::Once).await, "passed");

    let whole = fs::read_to_string(&file).unwrap();
    for (answer, what) in [
        (json!(null), "invalid type: null"),
        (json!("passed"), "unknown variant `passed`"),
        (json!({ "exit": { "code": 0 } }), "missing field `stdout`"),
        (json!({ "exit": { "code": 4_294_967_296_u64, "stdout": "", "stderr": "" } }), "invalid"),
    ] {
        let mut line: serde_json::Value = serde_json::from_str(&whole).unwrap();
        line["answer"] = answer;
        fs::write(&file, line.to_string()).unwrap();
        let given = gate(&project, one, &file, CassetteMode::None).await;
        let said = "failed: the answer of `claude-code/guard.sh` in the cassette: ";
        assert!(given.starts_with(said) && given.contains(what), "{given}");
    }
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let error = Cassette::open(&file, CassetteMode::None).unwrap_err().to_string();
    assert!(error.contains("guard.jsonl"), "{error}");

    let nowhere = folder.path().join("no/such/folder.jsonl");
    let failed = gate(&project, one, &nowhere, CassetteMode::New).await;
    assert!(failed.starts_with("failed: "), "{failed}");
    assert!(failed.ends_with("started: true"), "{failed}");
}
