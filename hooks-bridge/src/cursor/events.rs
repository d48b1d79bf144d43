//! The events, and what their matchers are compared with.

use crate::facts::EventKind::{
    AfterTool, BeforeTool, Gate, Prompt, SessionEnd, SessionStart, Stop, SubagentStop,
};
use crate::rules::EventRule;
use crate::rules::Subject::{Text, Tool};

pub(super) const EVENTS: &[EventRule] = &[
    EventRule::gate("preToolUse", BeforeTool).on(Tool("tool_name")),
    EventRule::observe("postToolUse").of(AfterTool).on(Tool("tool_name")),
    EventRule::observe("postToolUseFailure").of(AfterTool).of_failures().on(Tool("tool_name")),
    EventRule::gate("beforeShellExecution", BeforeTool).on(Text("command")).only(&["Shell"]),
    EventRule::observe("afterShellExecution").of(AfterTool).on(Text("command")).only(&["Shell"]),
    EventRule::gate("beforeMCPExecution", BeforeTool).only(&["MCP"]),
    EventRule::observe("afterMCPExecution").of(AfterTool).only(&["MCP"]),
    EventRule::gate("beforeReadFile", BeforeTool).only(&["Read"]),
    EventRule::observe("afterFileEdit").of(AfterTool).only(&["Write"]),
    EventRule::gate("beforeTabFileRead", Gate),
    EventRule::observe("afterTabFileEdit"),
    EventRule::gate("beforeSubmitPrompt", Prompt),
    EventRule::observe("sessionStart").of(SessionStart),
    EventRule::observe("sessionEnd").of(SessionEnd),
    EventRule::gate("subagentStart", Gate).on(Text("subagent_type")),
    EventRule::gate("subagentStop", SubagentStop).on(Text("subagent_type")),
    EventRule::gate("stop", Stop),
    EventRule::observe("preCompact"),
    EventRule::observe("afterAgentResponse"),
    EventRule::observe("afterAgentThought"),
    EventRule::observe("workspaceOpen"),
];
