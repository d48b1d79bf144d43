//! What a command finds in its stdin and in its environment.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::facts::{Document, Facts, Surroundings, ToolFacts, cwd};
use crate::rules::EventRule;

pub(super) fn stdin(event: &EventRule, facts: &Facts, _: SystemTime) -> Map<String, Value> {
    let stop = event.kind.is_stop();
    let document = Document::default()
        .set("hook_event_name", event.name)
        .maybe("conversation_id", facts.session_id.clone())
        .maybe("session_id", facts.session_id.clone().filter(|_| event.name.starts_with("session")))
        .maybe("workspace_roots", cwd(facts).map(|cwd| json!([cwd])))
        .maybe("model", facts.model.clone())
        .maybe("prompt", facts.prompt.clone())
        .maybe("reason", facts.reason.clone())
        .maybe("status", stop.then_some("completed"))
        .maybe("loop_count", stop.then_some(facts.loop_count));
    match &facts.tool {
        Some(tool) => of_tool(document, event, tool, facts),
        None => document.finish(facts),
    }
}

fn of_tool(
    document: Document,
    event: &EventRule,
    tool: &ToolFacts,
    facts: &Facts,
) -> Map<String, Value> {
    let text = |key: &str| tool.input.get(key).cloned();
    let output = tool.response.as_ref().map(|response| match response {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let document = document.maybe("cwd", cwd(facts));
    match event.name {
        "beforeShellExecution" | "afterShellExecution" => document
            .maybe("command", text("command"))
            .maybe("output", output)
            .maybe("duration", tool.duration_ms),
        "beforeReadFile" | "afterFileEdit" => {
            document.maybe("file_path", text("file_path").or_else(|| text("path")))
        }
        "beforeMCPExecution" | "afterMCPExecution" => document
            .set("tool_name", tool.name.clone())
            .set("tool_input", tool.input.to_string())
            .maybe("result_json", output),
        _ => document
            .set("tool_name", tool.name.clone())
            .set("tool_input", tool.input.clone())
            .maybe("tool_use_id", tool.id.clone())
            .maybe(if tool.failed { "error_message" } else { "tool_output" }, output)
            .maybe("duration", tool.duration_ms),
    }
    .finish(facts)
}

pub(super) fn environment(_: &Facts, around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let project = around.project.to_string_lossy();
    let names = ["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];
    let mut variables = names.map(|name| (name, project.clone().into_owned())).to_vec();
    if let Some(plugin) = around.plugin {
        variables.push(("CURSOR_PLUGIN_ROOT", plugin.to_string_lossy().into_owned()));
    }
    variables
}
