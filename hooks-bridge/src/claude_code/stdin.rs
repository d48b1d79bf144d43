//! What a command finds in its stdin and in its environment.

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::facts::{Document, Facts, Surroundings, cwd};
use crate::rules::EventRule;

pub(crate) fn stdin(event: &EventRule, facts: &Facts, _: SystemTime) -> Map<String, Value> {
    let stop = event.kind.is_stop();
    let document = Document::default()
        .set("hook_event_name", event.name)
        .maybe("session_id", facts.session_id.clone())
        .maybe("cwd", cwd(facts))
        .maybe("model", facts.model.clone())
        .maybe("prompt", facts.prompt.clone())
        .maybe("source", facts.source.clone())
        .maybe("reason", facts.reason.clone())
        .maybe("stop_hook_active", stop.then_some(facts.loop_count > 0))
        .maybe("last_assistant_message", facts.last_message.clone());
    let Some(tool) = &facts.tool else { return document.finish(facts) };
    document
        .set("tool_name", tool.name.clone())
        .set("tool_input", tool.input.clone())
        .maybe("tool_use_id", tool.id.clone())
        .maybe("tool_response", tool.response.clone())
        .maybe("duration_ms", tool.duration_ms)
        .finish(facts)
}

pub(super) fn environment(facts: &Facts, around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let mut variables = vec![("CLAUDE_PROJECT_DIR", around.project.to_string_lossy().into_owned())];
    if let Some(plugin) = around.plugin {
        variables.push(("CLAUDE_PLUGIN_ROOT", plugin.to_string_lossy().into_owned()));
    }
    if let Some(session) = &facts.session_id {
        variables.push(("CLAUDE_CODE_SESSION_ID", session.clone()));
    }
    variables
}
