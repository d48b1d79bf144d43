//! Cursor: `hooks.json`.

mod answer;
mod config;
mod events;
mod stdin;
mod tools;

use std::time::Duration;

use crate::rules::{Matching, Rules};

pub(crate) static RULES: Rules = Rules {
    id: "cursor",
    product: "Cursor",
    events: events::EVENTS,
    tools: tools::TOOLS,
    mcp: tools::MCP,
    format: config::FORMAT,
    matching: Matching::Anywhere,
    everything: &["*"],
    looks_around: true,
    // The product does not say; a minute is what its examples stay under.
    timeout: Duration::from_mins(1),
    stdout: 1 << 20,
    stdin: stdin::stdin,
    answer_text: crate::verdict::all_of,
    fields: answer::fields,
    faithful: answer::faithful,
    failure_denies: |_, _| false,
    environment: stdin::environment,
};
