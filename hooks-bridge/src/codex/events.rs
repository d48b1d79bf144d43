//! The events, and what their matchers are compared with.

use crate::facts::EventKind::{
    AfterTool, BeforeTool, Gate, Permission, Prompt, SessionEnd, SessionStart, Stop, SubagentStop,
};
use crate::rules::EventRule;
use crate::rules::Subject::{Text, Tool, Word};

const TRIGGERS: &[&str] = &["manual", "auto"];

pub(super) const EVENTS: &[EventRule] = &[
    EventRule::gate("PreToolUse", BeforeTool).on(Tool("tool_name")),
    EventRule::gate("PermissionRequest", Permission).on(Tool("tool_name")),
    EventRule::observe("PostToolUse").of(AfterTool).halts().on(Tool("tool_name")),
    // Exit code 2 is a failure; `"continue": false` stops.
    EventRule::gate("PreCompact", Gate).on(Word("trigger", TRIGGERS)).never_blocks(),
    EventRule::observe("PostCompact").halts().on(Word("trigger", TRIGGERS)),
    EventRule::observe("SessionStart")
        .of(SessionStart)
        .halts()
        .on(Word("source", &["startup", "resume", "clear"]))
        .context(),
    EventRule::observe("SessionEnd").of(SessionEnd).on(Text("reason")).within(1_000),
    EventRule::gate("UserPromptSubmit", Prompt).context(),
    EventRule::observe("SubagentStart").halts().on(Text("agent_type")).context(),
    EventRule::gate("SubagentStop", SubagentStop).on(Text("agent_type")),
    EventRule::gate("Stop", Stop),
    EventRule::observe("Interrupt"),
];
