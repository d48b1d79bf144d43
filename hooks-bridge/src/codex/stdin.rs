//! What a command finds in its stdin and in its environment.

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::claude_code;
use crate::facts::{Facts, Surroundings};
use crate::rules::EventRule;

/// As Claude Code has it; keys without a value are `null`.
pub(super) fn stdin(event: &EventRule, facts: &Facts, now: SystemTime) -> Map<String, Value> {
    let mut document = claude_code::stdin(event, facts, now);
    document.entry("transcript_path").or_insert(Value::Null);
    if event.name == "Stop" || event.name == "SubagentStop" {
        document.entry("last_assistant_message").or_insert(Value::Null);
    }
    document
}

pub(super) fn environment(_: &Facts, around: &Surroundings<'_>) -> Vec<(&'static str, String)> {
    let Some(plugin) = around.plugin else { return Vec::new() };
    let plugin = plugin.to_string_lossy();
    ["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"].map(|name| (name, plugin.clone().into_owned())).to_vec()
}
