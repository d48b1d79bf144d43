//! Codex CLI: `hooks.json`, and `[hooks]` in `config.toml`.

mod answer;
mod config;
mod events;
mod stdin;
mod tools;

use std::time::Duration;

use crate::rules::{Matching, Mcp, Rules};

pub(crate) static RULES: Rules = Rules {
    id: "codex",
    product: "Codex CLI",
    events: events::EVENTS,
    tools: tools::TOOLS,
    // The product does not say how it names them.
    mcp: Mcp::COMMON,
    format: config::FORMAT,
    matching: Matching::ListOrAnywhere("|"),
    everything: &["*"],
    looks_around: false,
    timeout: Duration::from_mins(10),
    stdout: 1 << 20,
    stdin: stdin::stdin,
    answer_text: crate::verdict::all_of,
    fields: crate::claude_code::fields,
    faithful: answer::faithful,
    failure_denies: |_, _| false,
    environment: stdin::environment,
};
