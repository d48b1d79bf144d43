//! The events, and what their matchers are compared with.

use crate::facts::EventKind::{AfterTool, BeforeTool, Gate, Permission, Prompt};
use crate::facts::EventKind::{SessionEnd, SessionStart, Stop, SubagentStop};
use crate::rules::EventRule;
use crate::rules::Matching::ListOrAnywhere;
use crate::rules::Subject::{Text, Tool, Word};

const fn gate(name: &'static str) -> EventRule {
    EventRule::gate(name, Gate)
}

const fn observe(name: &'static str) -> EventRule {
    EventRule::observe(name)
}

/// `"continue": false` is universal, but where the product reads no answer at all.
pub(super) const EVENTS: &[EventRule] = &[
    observe("SessionStart")
        .of(SessionStart)
        .halts()
        .on(Word("source", &["startup", "resume", "clear", "compact", "fork"]))
        .context(),
    observe("Setup").halts().on(Word("trigger", &["init", "maintenance"])),
    EventRule::gate("UserPromptSubmit", Prompt).context().within(30_000),
    gate("UserPromptExpansion").on(Text("command_name")).context(),
    EventRule::gate("PreToolUse", BeforeTool).on(Tool("tool_name")),
    // Exit code 2 is ignored; JSON decides.
    EventRule::gate("PermissionRequest", Permission).on(Tool("tool_name")).never_blocks(),
    observe("PermissionDenied").halts().on(Tool("tool_name")),
    observe("PostToolUse").of(AfterTool).halts().on(Tool("tool_name")),
    observe("PostToolUseFailure").of(AfterTool).of_failures().halts().on(Tool("tool_name")),
    gate("PostToolBatch"),
    observe("Notification").on(Text("notification_type")),
    observe("MessageDisplay").within(10_000),
    observe("SubagentStart").halts().on(Text("agent_type")),
    EventRule::gate("SubagentStop", SubagentStop).on(Text("agent_type")).failure_never_blocks(),
    EventRule::gate("Stop", Stop).failure_never_blocks(),
    observe("StopFailure").on(Text("error")).matching(ListOrAnywhere("|")),
    gate("TaskCreated"),
    gate("TaskCompleted").failure_never_blocks(),
    gate("TeammateIdle").failure_never_blocks(),
    observe("InstructionsLoaded"),
    observe("DirectoryAdded"),
    observe("WorktreeRemove"),
    observe("PostCompact").on(Word("trigger", &["manual", "auto"])),
    observe("SessionEnd").of(SessionEnd).on(Text("reason")).within(1_500),
    observe("CwdChanged"),
    observe("FileChanged").on(Text("file_path")).matching(ListOrAnywhere("|")),
    gate("ConfigChange").on(Text("source")),
    gate("WorktreeCreate"),
    gate("PreCompact").on(Word("trigger", &["manual", "auto"])),
    gate("PreModelSwitch").within(30_000),
    observe("PostModelSwitch").context().within(30_000),
    gate("Elicitation").on(Text("mcp_server_name")),
    gate("ElicitationResult").on(Text("mcp_server_name")),
];
