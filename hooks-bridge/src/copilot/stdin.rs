//! What a command finds in its stdin and in its environment.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::claude_code;
use crate::facts::{Document, Facts, Surroundings, cwd};
use crate::rules::EventRule;

pub(super) fn stdin(event: &EventRule, facts: &Facts, now: SystemTime) -> Map<String, Value> {
    if event.name.starts_with(char::is_uppercase) {
        return claude_code::stdin(event, facts, now);
    }
    let stop = event.kind.is_stop();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let document = Document::default()
        .set("timestamp", u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
        .maybe("sessionId", facts.session_id.clone())
        .maybe("cwd", cwd(facts))
        .maybe("prompt", facts.prompt.clone())
        .maybe("source", facts.source.clone())
        .maybe("reason", facts.reason.clone())
        .maybe("stop_hook_active", stop.then_some(facts.loop_count > 0))
        .maybe("response", facts.last_message.clone().filter(|_| stop));
    let Some(tool) = &facts.tool else { return document.finish(facts) };
    let result = tool.response.as_ref().filter(|_| !tool.failed).map(|response| {
        let text = response.as_str().map_or_else(|| response.to_string(), str::to_owned);
        json!({ "resultType": "success", "textResultForLlm": text })
    });
    document
        .set("toolName", tool.name.clone())
        .set("toolArgs", tool.input.clone())
        .maybe("toolResult", result)
        .maybe("error", tool.response.clone().filter(|_| tool.failed))
        .finish(facts)
}

pub(super) fn environment(_: &Facts, _: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    vec![("COPILOT_CLI", "1".to_owned())]
}
