//! The events, and what their matchers are compared with.

use crate::facts::EventKind::{
    AfterTool, BeforeTool, Gate, Prompt, SessionEnd, SessionStart, Stop,
};
use crate::rules::EventRule;
use crate::rules::Matching::Literal;
use crate::rules::Subject::{Tool, Word};

const ENDS: &[&str] = &["exit", "clear", "logout", "prompt_input_exit", "other"];

pub(super) const EVENTS: &[EventRule] = &[
    EventRule::gate("BeforeTool", BeforeTool).on(Tool("tool_name")),
    EventRule::observe("AfterTool").of(AfterTool).halts().on(Tool("tool_name")),
    EventRule::gate("BeforeAgent", Prompt),
    EventRule::gate("AfterAgent", Stop),
    EventRule::observe("SessionStart")
        .of(SessionStart)
        .halts()
        .on(Word("source", &["startup", "resume", "clear"]))
        .matching(Literal),
    EventRule::observe("SessionEnd").of(SessionEnd).on(Word("reason", ENDS)).matching(Literal),
    EventRule::observe("PreCompress")
        .halts()
        .on(Word("trigger", &["manual", "auto"]))
        .matching(Literal),
    EventRule::observe("Notification").halts(),
    EventRule::gate("BeforeModel", Gate),
    EventRule::observe("AfterModel").halts(),
    EventRule::observe("BeforeToolSelection").halts(),
];
