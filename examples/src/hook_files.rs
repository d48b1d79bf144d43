//! The hook scripts of coding agents, as handlers of the agent's points.

use std::error::Error;
use std::path::Path;

use hooks_bridge::config::Plan;
use hooks_bridge::trust::Trust;
use hooks_bridge::{Bridge, CommandPoint, Dialect, EventKind};
use hooks_points::{AfterToolCall, AgentDone, BeforeToolCall, SessionStart};
use hooks_runtime::HookRegistry;

/// The agent's tools, and what Claude Code calls such a tool: matchers find them by that.
const TOOLS: [(&str, &str); 5] = [
    ("run_command", "Bash"),
    ("start_process", "Bash"),
    ("read_file", "Read"),
    ("list_directory", "LS"),
    ("spawn_subagent", "Agent"),
];

/// What the points below are for.
const KINDS: [EventKind; 4] = [
    <BeforeToolCall as CommandPoint>::KIND,
    <AfterToolCall as CommandPoint>::KIND,
    <SessionStart as CommandPoint>::KIND,
    <AgentDone as CommandPoint>::KIND,
];

/// Registers the commands of all hook files in a folder, whose scripts the operator trusts
/// by naming it; returns what is odd about the files, a line each.
pub fn connect(
    hooks: &HookRegistry,
    folder: &Path,
) -> Result<Vec<String>, Box<dyn Error + Send + Sync>> {
    let folder = folder
        .canonicalize()
        .map_err(|error| format!("no hooks in `{}`: {error}", folder.display()))?;
    let files: Vec<_> =
        Dialect::ALL.into_iter().flat_map(|dialect| Plan::files(dialect, &folder, None)).collect();
    if files.is_empty() {
        return Err(format!(
            "no hooks in `{}`: it has no `.claude/settings.json`, nor a file of another dialect",
            folder.display()
        )
        .into());
    }
    let plan = Plan::read(&files, &folder);
    let mut odd: Vec<_> = plan.errors.iter().map(ToString::to_string).collect();
    for entry in &plan.entries {
        odd.extend(entry.suspicions.iter().map(|it| format!("{}, {it}", entry.place)));
        let unasked = match (&entry.skipped, entry.kind()) {
            _ if !entry.suspicions.is_empty() => None,
            (Some(reason), _) => Some(reason.clone()),
            (None, Some(kind)) if KINDS.contains(&kind) => None,
            (None, _) => Some(format!("the agent has no point for `{}`", entry.event)),
        };
        odd.extend(unasked.map(|why| format!("{}: {why}, so it never runs", entry.place)));
    }
    let bridge = Bridge::new(&folder, plan).trust(Trust::everything());
    let bridge = TOOLS.iter().fold(bridge, |bridge, (own, common)| bridge.tool(*own, *common));
    // All or none of them.
    let mut handlers = bridge.amend::<BeforeToolCall>();
    handlers.extend(bridge.observe::<AfterToolCall>());
    handlers.extend(bridge.observe::<SessionStart>());
    handlers.extend(bridge.observe::<AgentDone>());
    hooks.register(handlers)?;
    Ok(odd)
}
