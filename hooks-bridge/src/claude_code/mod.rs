//! Claude Code: `settings.json` and the `hooks.json` of plugins.

mod answer;
mod config;
mod events;
mod stdin;
mod tools;

use std::time::Duration;

use crate::rules::{Matching, Mcp, Rules};

pub(crate) use answer::{event_output, fields};
pub(crate) use stdin::stdin;

pub(crate) static RULES: Rules = Rules {
    id: "claude-code",
    product: "Claude Code",
    events: events::EVENTS,
    tools: tools::TOOLS,
    mcp: Mcp::COMMON,
    format: config::FORMAT,
    matching: Matching::ListOrAnywhere("- ,|"),
    everything: &["*"],
    looks_around: true,
    timeout: Duration::from_mins(10),
    stdout: 1 << 20,
    stdin,
    answer_text: crate::verdict::all_of,
    fields,
    faithful: answer::faithful,
    failure_denies: answer::failure_denies,
    environment: stdin::environment,
};
