//! Gemini CLI: `settings.json`, and the `hooks.json` of extensions.

mod answer;
mod config;
mod events;
mod stdin;
mod tools;

use std::time::Duration;

use crate::rules::{Matching, Rules};

pub(crate) static RULES: Rules = Rules {
    id: "gemini",
    product: "Gemini CLI",
    events: events::EVENTS,
    tools: tools::TOOLS,
    mcp: tools::MCP,
    format: config::FORMAT,
    matching: Matching::Anywhere,
    everything: &["*"],
    looks_around: true,
    timeout: Duration::from_mins(1),
    stdout: 1 << 20,
    stdin: stdin::stdin,
    answer_text: answer::answer_text,
    fields: answer::fields,
    faithful: answer::faithful,
    failure_denies: |_, _| false,
    environment: stdin::environment,
};
