//! `"continue": false` has everything stop: it beats every other decision, in whatever
//! order the commands are, at every event at which the dialect has it, in both modes.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::time::Duration;

use dialects::{configuration, fire, fire_with, plan};
use hooks_bridge::points::{SessionStarting, SessionStartingPayload, Stopping, StoppingPayload};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Mode, Outcome, Runs};
use hooks_points::{AfterToolCall, AfterToolCallPayload, ToolResult};
use hooks_runtime::{Claim, HookPoint, HookRegistry, Plugins};
use serde_json::{Value, json};
use support::Scripts;

use Dialect::{ClaudeCode, Codex, Gemini};
use Mode::{Faithful, Strict};

const HALT: &str = r#"echo '{"continue": false, "stopReason": "enough"}'"#;
const GO_ON: &str = r#"echo '{"decision": "block", "reason": "test first"}'"#;

fn handlers(commands: &[&str]) -> Vec<(String, Value)> {
    commands.iter().map(|command| ((*command).to_owned(), Value::Null)).collect()
}

fn bridge(scripts: &Scripts, event: &str, commands: &[&str]) -> Bridge {
    let text = configuration(ClaudeCode, event, &handlers(commands));
    Bridge::new(scripts.path(), plan(ClaudeCode, &text, scripts.path())).trust(Trust::everything())
}

/// Stop and the like: nobody has the agent go on, whoever comes first.
#[tokio::test]
async fn a_halt_at_a_stop_overrules_those_before_and_after_it() {
    for dialect in [ClaudeCode, Codex, Gemini] {
        for mode in [Strict, Faithful] {
            let scripts = Scripts::new();
            let event = dialects::Event::Stop;
            for commands in [[HALT, GO_ON], [GO_ON, HALT]] {
                let fired = fire(scripts.path(), dialect, event, mode, &handlers(&commands)).await;
                assert_eq!(fired.outcome, Outcome::Passed, "{dialect} {mode:?}: {fired:?}");
                assert_eq!(fired.handlers.len(), 2, "all are asked: {fired:?}");
            }
            let commands = handlers(&[GO_ON, "exit 0", GO_ON]);
            let fired = fire(scripts.path(), dialect, event, mode, &commands).await;
            assert_eq!(fired.outcome, Outcome::Rejected, "{dialect} {mode:?}: {fired:?}");
        }
    }
    let subagent = ("SubagentStop", json!({ "agent_type": "reviewer" }));
    for dialect in [ClaudeCode, Codex] {
        let scripts = Scripts::new();
        let commands = handlers(&[GO_ON, HALT]);
        let fired = fire_with(scripts.path(), dialect, subagent.clone(), Strict, &commands).await;
        assert_eq!(fired.outcome, Outcome::Passed, "{dialect}: {fired:?}");
    }
}

/// Of several that have the agent go on, the first in the configured order claims, under a
/// name that says for which command.
#[tokio::test]
async fn l09_the_first_that_has_the_agent_go_on_claims() {
    let scripts = Scripts::new();
    let commands = ["exit 0", "echo one >&2; exit 2", "echo two >&2; exit 2"];
    let hooks = HookRegistry::new();
    hooks.register(bridge(&scripts, "Stop", &commands).claim::<Stopping>()).unwrap();
    let (claim, report) =
        hooks.fire_claiming_reported::<Stopping>(&StoppingPayload::default()).await;
    assert_eq!(claim.unwrap().claimed().unwrap().reason, "one", "{report}");
    let rows: Vec<_> = report.handlers().iter().map(|row| row.handler().to_owned()).collect();
    let names = |suffix: &str| commands.map(|command| format!("{command}{suffix}")).to_vec();
    let expected = [vec!["hooks-bridge".to_owned()], names(""), names(" (go on)")].concat();
    assert_eq!(rows, expected);
    let claimed = report.handler("echo one >&2; exit 2 (go on)").unwrap();
    assert_eq!(claimed.status().to_string(), "claimed");
}

/// L36: in shadow a halt overrules nobody, and a go on has no effect.
#[tokio::test]
async fn l36_in_shadow_neither_has_an_effect() {
    let scripts = Scripts::new();
    let halt = scripts.script("halt.sh", &format!("#!/bin/sh\n{HALT}\n"));
    let go_on = scripts.script("go_on.sh", &format!("#!/bin/sh\n{GO_ON}\n"));
    let (halt, go_on) = (halt.display().to_string(), go_on.display().to_string());
    let hooks = HookRegistry::new();
    let commands = [go_on.as_str(), halt.as_str()];
    hooks.register(bridge(&scripts, "Stop", &commands).claim::<Stopping>()).unwrap();
    let stop = StoppingPayload::default();
    let runs = Runs::default();
    let scope = hooks.scope(Plugins::All).with(runs.clone());
    let fire = async || scope.fire_claiming::<Stopping>(&stop).await.unwrap();
    assert_eq!(fire().await, Claim::Unclaimed);
    assert_eq!(runs.halt().as_deref(), Some("enough"));
    drop(runs.take());
    let operator = hooks.operator();
    let target = |name: &str| format!("{}:claude-code/{name}", Stopping::NAME);
    let shadow = operator.shadow(target("halt.sh")).until(Duration::from_mins(1)).apply().unwrap();
    assert_eq!(fire().await.claimed().unwrap().reason, "test first");
    assert_eq!(runs.halt(), None, "it ran in shadow");
    operator.shadow(target("go_on.sh")).until(Duration::from_mins(1)).apply().unwrap();
    assert_eq!(fire().await, Claim::Unclaimed);
    operator.clear(shadow.id()).unwrap();
    operator.disable(target("halt.sh")).apply().unwrap();
    assert_eq!(fire().await, Claim::Unclaimed);
    operator.enforce(target("go_on.sh")).apply().unwrap();
    assert!(matches!(fire().await, Claim::Claimed(_)));
}

/// A session that is not to go on says so, and no further command is asked.
#[tokio::test]
async fn a_halt_when_a_session_starts_is_kept() {
    for dialect in [ClaudeCode, Codex, Gemini] {
        for mode in [Strict, Faithful] {
            let scripts = Scripts::new();
            let say = r#"echo '{"hookSpecificOutput": {"additionalContext": "be brief"}}'"#;
            let commands = handlers(&[say, HALT, "touch asked"]);
            let fired =
                fire(scripts.path(), dialect, dialects::Event::Start, mode, &commands).await;
            let came = (fired.outcome, fired.reason.as_deref());
            assert_eq!(came, (Outcome::Rejected, Some("enough")), "{dialect} {mode:?}: {fired:?}");
            assert_eq!(fired.context.as_deref(), Some("be brief"), "{dialect} {mode:?}");
            assert!(!scripts.path().join("asked").exists(), "{dialect} {mode:?}");
        }
    }
    let scripts = Scripts::new();
    let hooks = HookRegistry::new();
    let commands = [HALT, "echo be brief"];
    hooks.register(bridge(&scripts, "SessionStart", &commands).amend::<SessionStarting>()).unwrap();
    let session = SessionStartingPayload::default();
    let started = hooks.fire_modifying::<SessionStarting>(&session).await.unwrap();
    assert_eq!((started.stopped.as_deref(), started.context), (Some("enough"), None));
}

/// A denial is no halt: the start of a session cannot be denied.
#[tokio::test]
async fn a_denial_when_a_session_starts_stops_nothing() {
    for mode in [Strict, Faithful] {
        let scripts = Scripts::new();
        let commands = handlers(&[GO_ON]);
        let event = dialects::Event::Start;
        let fired = fire(scripts.path(), ClaudeCode, event, mode, &commands).await;
        assert_ne!(fired.outcome, Outcome::Rejected, "{mode:?}: {fired:?}");
    }
}

/// After a tool nothing can be blocked, but everything can be stopped: of several the first
/// in the configured order says why, whichever ends first.
#[tokio::test]
async fn l06_a_halt_after_a_tool_is_told_to_the_host() {
    let scripts = Scripts::new();
    let slow = r#"sleep 0.2; echo '{"continue": false, "stopReason": "slow"}'"#;
    let hooks = HookRegistry::new();
    let bridged = bridge(&scripts, "PostToolUse", &[slow, HALT]);
    hooks.register(bridged.observe::<AfterToolCall>()).unwrap();
    let runs = Runs::default();
    let scope = hooks.scope(Plugins::All).with(runs.clone());
    let call = AfterToolCallPayload {
        session_id: "s".into(),
        tool_name: "Bash".into(),
        result: ToolResult::Success { value: "done".into(), structured: None, cost_usd: None },
        duration_ms: 1,
    };
    scope.fire_void::<AfterToolCall>(&call).await.unwrap();
    assert_eq!(runs.halt().as_deref(), Some("slow"));
    for dialect in [ClaudeCode, Codex, Gemini] {
        for mode in [Strict, Faithful] {
            let event = dialects::Event::After;
            let commands = handlers(&[HALT]);
            let fired = fire(scripts.path(), dialect, event, mode, &commands).await;
            let came = (fired.outcome, fired.reason.as_deref());
            assert_eq!(came, (Outcome::Rejected, Some("enough")), "{dialect} {mode:?}: {fired:?}");
        }
    }
}

/// The rest of the events, one by one: where the product has a halt, and where it reads no
/// answer.
#[tokio::test]
async fn every_event_of_the_dialects_that_have_halts() {
    use Outcome::{None as Nothing, Passed, Rejected};
    let rows: &[(Dialect, &[&str], [Outcome; 2])] = &[
        (
            ClaudeCode,
            &[
                "Setup",
                "UserPromptSubmit",
                "UserPromptExpansion",
                "PreToolUse",
                "PermissionRequest",
                "PermissionDenied",
                "PostToolUseFailure",
                "PostToolBatch",
                "SubagentStart",
                "TaskCreated",
                "TaskCompleted",
                "TeammateIdle",
                "ConfigChange",
                "PreCompact",
                "PreModelSwitch",
                "Elicitation",
                "ElicitationResult",
            ],
            [Rejected, Rejected],
        ),
        (
            ClaudeCode,
            &["SessionEnd", "StopFailure", "Notification", "PostCompact", "FileChanged"],
            [Passed, Passed],
        ),
        // It is not supported before a tool: the answer is broken, which is no denial.
        (Codex, &["PreToolUse"], [Passed, Rejected]),
        (
            Codex,
            &["UserPromptSubmit", "PreCompact", "PostCompact", "SubagentStart"],
            [Rejected, Rejected],
        ),
        (Codex, &["SessionEnd"], [Passed, Passed]),
        (
            Gemini,
            &["BeforeTool", "BeforeAgent", "BeforeModel", "AfterModel", "BeforeToolSelection"],
            [Rejected, Rejected],
        ),
        (Gemini, &["SessionEnd"], [Passed, Passed]),
        // These have no such key before a tool.
        (Dialect::Copilot, &["preToolUse", "agentStop", "postToolUse"], [Nothing, Nothing]),
    ];
    let scripts = Scripts::new();
    for (dialect, events, expected) in rows {
        for event in *events {
            let stdin = (*event, json!({}));
            let commands = handlers(&[HALT]);
            let mut came = Vec::new();
            for mode in [Faithful, Strict] {
                let fired =
                    fire_with(scripts.path(), *dialect, stdin.clone(), mode, &commands).await;
                came.push(fired.outcome);
            }
            assert_eq!(came, expected, "{dialect} {event}");
        }
    }
}

/// A halt beats the exit code of its own command, too.
#[tokio::test]
async fn a_halt_beats_exit_code_2() {
    let scripts = Scripts::new();
    for mode in [Strict, Faithful] {
        let commands = [format!("{HALT}; echo go on >&2; exit 2")];
        let commands = handlers(&[&commands[0], GO_ON]);
        let event = dialects::Event::Stop;
        let fired = fire(scripts.path(), ClaudeCode, event, mode, &commands).await;
        assert_eq!(fired.outcome, Outcome::Passed, "{mode:?}: {fired:?}");
    }
    // And in `Strict` it is not lost where its command fails.
    let commands = handlers(&[&format!("{HALT}; exit 1"), GO_ON]);
    let event = dialects::Event::Stop;
    let fired = fire(scripts.path(), ClaudeCode, event, Strict, &commands).await;
    assert_eq!(fired.outcome, Outcome::Passed, "{fired:?}");
}
