//! One event of each dialect, with its own names.
#![allow(dead_code, unreachable_pub)] // each test uses some of it

use std::path::Path;
use std::time::Duration;

use hooks_bridge::config::{Origin, Plan, Source};
use hooks_bridge::runner::Limits;
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, Dialect, Fired, Mode};
use serde_json::{Map, Value, json};

/// What an event is for; each dialect has a name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Tool,
    Prompt,
    Start,
    Stop,
    After,
}

use Event::{After, Prompt, Start, Stop, Tool};

pub fn event_name(dialect: Dialect, event: Event) -> &'static str {
    match (dialect, event) {
        (Dialect::Gemini, Tool) => "BeforeTool",
        (Dialect::Gemini, Prompt) => "BeforeAgent",
        (Dialect::Gemini, Stop) => "AfterAgent",
        (Dialect::Gemini, After) => "AfterTool",
        (Dialect::Cursor | Dialect::Copilot, Tool) => "preToolUse",
        (Dialect::Cursor, Prompt) => "beforeSubmitPrompt",
        (Dialect::Cursor | Dialect::Copilot, Start) => "sessionStart",
        (Dialect::Cursor, Stop) => "stop",
        (Dialect::Cursor | Dialect::Copilot, After) => "postToolUse",
        (Dialect::Copilot, Prompt) => "userPromptSubmitted",
        (Dialect::Copilot, Stop) => "agentStop",
        (_, Tool) => "PreToolUse",
        (_, Prompt) => "UserPromptSubmit",
        (_, Start) => "SessionStart",
        (_, Stop) => "Stop",
        (_, After) => "PostToolUse",
    }
}

/// A configuration file with these commands, each with further keys.
pub fn configuration(dialect: Dialect, event: &str, handlers: &[(String, Value)]) -> Value {
    let handlers: Vec<Value> = handlers
        .iter()
        .map(|(command, more)| {
            let key = if dialect == Dialect::Copilot { "bash" } else { "command" };
            let mut handler = Map::from_iter([("type".to_owned(), json!("command"))]);
            handler.insert(key.to_owned(), json!(command));
            handler.extend(more.as_object().cloned().unwrap_or_default());
            Value::Object(handler)
        })
        .collect();
    match dialect {
        Dialect::Cursor | Dialect::Copilot => json!({ "version": 1, "hooks": { event: handlers } }),
        _ => json!({ "hooks": { event: [ { "hooks": handlers } ] } }),
    }
}

/// A plausible stdin of the event.
pub fn stdin(dialect: Dialect, event: Event) -> Value {
    let call = json!({ "command": "ls", "keep": 1 });
    match (dialect, event) {
        (Dialect::Copilot, Tool | After) => json!({ "toolName": "bash", "toolArgs": call }),
        (Dialect::Gemini, Tool | After) => {
            json!({ "tool_name": "run_shell_command", "tool_input": call })
        }
        (Dialect::Cursor, Tool | After) => json!({ "tool_name": "Shell", "tool_input": call }),
        (_, Tool | After) => json!({ "tool_name": "Bash", "tool_input": call }),
        (_, Prompt) => json!({ "prompt": "hello" }),
        (_, Start) => json!({ "source": "startup" }),
        (_, Stop) => json!({ "stop_hook_active": false, "loop_count": 0 }),
    }
}

pub fn plan(dialect: Dialect, configuration: &Value, project: &Path) -> Plan {
    let source = Source::new(dialect, "hooks-under-test.json", Origin::User);
    Plan::read_text(&source, &configuration.to_string(), project)
}

/// Fires one event with these commands as its handlers.
pub async fn fire(
    project: &Path,
    dialect: Dialect,
    event: Event,
    mode: Mode,
    handlers: &[(String, Value)],
) -> Fired {
    let name = event_name(dialect, event);
    fire_with(project, dialect, (name, stdin(dialect, event)), mode, handlers).await
}

/// Fires one event by name, with that stdin.
pub async fn fire_with(
    project: &Path,
    dialect: Dialect,
    (event, stdin): (&str, Value),
    mode: Mode,
    handlers: &[(String, Value)],
) -> Fired {
    let plan = plan(dialect, &configuration(dialect, event, handlers), project);
    let hangs = handlers.iter().any(|(command, _)| command.contains("sleep"));
    let limits = Limits {
        timeout: Some(Duration::from_millis(if hangs { 300 } else { 20_000 })),
        grace: Duration::from_millis(50),
        ..Limits::default()
    };
    let bridge =
        |plan| Bridge::new(project, plan).mode(mode).limits(limits).trust(Trust::everything());
    Fired::fire(dialect, event, stdin, plan, bridge).await
}
