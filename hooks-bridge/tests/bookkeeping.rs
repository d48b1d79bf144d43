//! What is set for a handler that only keeps the books, and what is forgotten while a fire
//! is under way.

#[path = "support/dialects.rs"]
mod dialects;
mod support;

use std::sync::Arc;
use std::time::Duration;

use dialects::{configuration, plan};
use hooks_bridge::points::{Stopping, StoppingPayload, UsingTool};
use hooks_bridge::runner::{Exit, Limits, Ran};
use hooks_bridge::trust::Trust;
use hooks_bridge::{Answer, Bridge, Dialect, Mode, Ruling};
use hooks_points::BeforeToolCall;
use hooks_runtime::{HookContext, HookPoint, HookRegistry, on};
use serde_json::Value;
use support::Scripts;
use tokio::sync::Barrier;

const GO_ON: &str = r#"echo '{"decision": "block", "reason": "test first"}'"#;

fn bridge(scripts: &Scripts, event: &str, commands: &[&str]) -> Bridge {
    let commands: Vec<_> = commands.iter().map(|it| ((*it).to_owned(), Value::Null)).collect();
    let text = configuration(Dialect::ClaudeCode, event, &commands);
    let plan = plan(Dialect::ClaudeCode, &text, scripts.path());
    Bridge::new(scripts.path(), plan).trust(Trust::everything())
}

async fn wait<R>(barrier: &Arc<Barrier>, _: &StoppingPayload, _: &HookContext) -> Option<R> {
    barrier.wait().await;
    None
}

/// L35: without the handler with which a fire begins, a guard could be taken for one that was
/// asked already, by what an earlier fire left. So it is turned off by break-glass only, at
/// a modifying gate as at a gating one.
#[test]
fn l35_the_beginning_of_a_gate_is_turned_off_by_break_glass_only() {
    let (scripts, hooks) = (Scripts::new(), HookRegistry::new());
    let bridge = bridge(&scripts, "PreToolUse", &["exit 2"]);
    hooks.register(bridge.gate::<UsingTool>()).unwrap();
    hooks.register(bridge.amend::<BeforeToolCall>()).unwrap();
    for point in [UsingTool::NAME, BeforeToolCall::NAME] {
        let target = format!("{point}:claude-code/hooks-bridge");
        let operator = hooks.operator();
        for setting in [
            operator.disable(target.as_str()),
            operator.shadow(target.as_str()),
            operator.sample(target.as_str(), 0.5),
        ] {
            let error = setting.apply().expect_err(point);
            assert!(error.to_string().contains("break_glass"), "{error}");
        }
        let setting = operator.disable(target.as_str()).break_glass("test");
        setting.until(Duration::from_mins(1)).apply().unwrap();
    }
}

/// L09: what a command said is kept for as long as its fire is under way, however many
/// others are.
#[tokio::test]
async fn l09_no_claim_is_forgotten_among_many_fires() {
    const FIRES: usize = 1_100;
    let (scripts, hooks) = (Scripts::new(), HookRegistry::new());
    let bridge = bridge(&scripts, "Stop", &[GO_ON]);
    let bridge = bridge.limits(Limits { concurrent: 64, ..Limits::default() });
    let all_asked = Arc::new(Barrier::new(FIRES));
    // Behind the command, before the handler that claims for it.
    let mut handlers = bridge.claim::<Stopping>();
    handlers.insert(2, on::<Stopping>().name("all asked").handler_with(all_asked, wait));
    hooks.register(handlers).unwrap();
    let fires: Vec<_> = (0..FIRES)
        .map(|_| {
            let hooks = hooks.clone();
            tokio::spawn(async move {
                hooks.fire_claiming::<Stopping>(&StoppingPayload::default()).await.unwrap()
            })
        })
        .collect();
    let mut forgotten = 0;
    for fire in fires {
        forgotten += usize::from(fire.await.unwrap().claimed().is_none());
    }
    assert_eq!(forgotten, 0);
}

/// L37: to have everything stop is not lost with a key of the wrong type beside it.
#[test]
fn l37_a_halt_with_a_wrong_key_is_a_halt() {
    let stdout = br#"{"continue": false, "stopReason": 5}"#.to_vec();
    for (dialect, events) in [
        (Dialect::ClaudeCode, ["Stop", "PostToolUse", "SessionStart", "PreToolUse"]),
        (Dialect::Codex, ["Stop", "PostToolUse", "SessionStart", "PreToolUse"]),
        (Dialect::Gemini, ["AfterAgent", "AfterTool", "SessionStart", "BeforeTool"]),
    ] {
        for event in events {
            let ran = Ran { exit: Exit::Code(0), stdout: stdout.clone(), stderr: String::new() };
            let answer = Answer::read(dialect, event, Mode::Strict, &ran).unwrap();
            let ruling = answer.decision().map(|decision| decision.ruling);
            assert_eq!(ruling, Some(Ruling::Halt), "{dialect} {event}: {answer:?}");
        }
    }
}
