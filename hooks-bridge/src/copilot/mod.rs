//! GitHub Copilot CLI and its cloud agent: `.github/hooks/*.json`.

mod answer;
mod config;
mod events;
mod stdin;
mod tools;

use std::time::Duration;

use crate::rules::{Matching, Mcp, Rules};

pub(crate) static RULES: Rules = Rules {
    id: "copilot",
    product: "Copilot CLI",
    events: events::EVENTS,
    tools: tools::TOOLS,
    // The product does not say how it names them.
    mcp: Mcp::COMMON,
    format: config::FORMAT,
    matching: Matching::Whole,
    everything: &["*", "**"],
    looks_around: true,
    timeout: Duration::from_secs(30),
    stdout: 10 << 20,
    stdin: stdin::stdin,
    answer_text: |ran| answer::without_progress(&ran.stdout),
    fields: answer::fields,
    faithful: answer::faithful,
    failure_denies: answer::failure_denies,
    environment: stdin::environment,
};
