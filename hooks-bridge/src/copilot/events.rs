//! The events. Those in Pascal case are the same with the stdin of Claude Code.

use crate::facts::EventKind::{
    AfterTool, BeforeTool, Permission, Prompt, SessionEnd, SessionStart, Stop, SubagentStop,
};
use crate::rules::EventRule;
use crate::rules::Matching::ListOrWhole;
use crate::rules::Subject::{Text, Tool};

pub(super) const EVENTS: &[EventRule] = &[
    EventRule::observe("sessionStart").of(SessionStart),
    EventRule::observe("sessionEnd").of(SessionEnd),
    // What commands say here is dropped.
    EventRule::gate("userPromptSubmitted", Prompt).never_blocks(),
    EventRule::observe("userPromptTransformed"),
    EventRule::gate("preToolUse", BeforeTool).on(Tool("toolName")),
    EventRule::observe("postToolUse").of(AfterTool).on(Tool("toolName")),
    EventRule::observe("postToolUseFailure").of(AfterTool).of_failures().on(Tool("toolName")),
    EventRule::gate("permissionRequest", Permission).on(Tool("toolName")),
    EventRule::gate("agentStop", Stop).never_blocks(),
    EventRule::gate("subagentStop", SubagentStop).on(Text("agentName")).never_blocks(),
    EventRule::observe("subagentStart").on(Text("agentName")),
    EventRule::observe("errorOccurred"),
    EventRule::observe("preCompact").on(Text("trigger")),
    EventRule::observe("notification").on(Text("notification_type")),
    EventRule::observe("SessionStart").of(SessionStart),
    EventRule::observe("SessionEnd").of(SessionEnd),
    EventRule::gate("UserPromptSubmit", Prompt).never_blocks(),
    EventRule::gate("PreToolUse", BeforeTool)
        .on(Tool("tool_name"))
        .matching(ListOrWhole)
        .common_names(),
    EventRule::observe("PostToolUse").of(AfterTool).on(Tool("tool_name")).common_names(),
    EventRule::observe("PostToolUseFailure")
        .of(AfterTool)
        .of_failures()
        .on(Tool("tool_name"))
        .common_names(),
    EventRule::gate("PermissionRequest", Permission)
        .on(Tool("tool_name"))
        .matching(ListOrWhole)
        .common_names(),
    EventRule::gate("Stop", Stop).never_blocks(),
    EventRule::gate("SubagentStop", SubagentStop).on(Text("agent_name")).never_blocks(),
    EventRule::observe("SubagentStart").on(Text("agent_name")),
    EventRule::observe("PreCompact").on(Text("trigger")),
    EventRule::observe("Notification").on(Text("notification_type")),
];
