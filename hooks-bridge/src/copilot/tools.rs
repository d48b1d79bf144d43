//! The tools: their own names, and behind each the one that Claude Code has.

use crate::rules::Tool;

macro_rules! tools {
    ($($common:literal = $($name:literal)+;)*) => {
        &[$($(Tool { common: $common, names: &[$name, $common] },)+)*]
    };
}

pub(super) const TOOLS: &[Tool] = tools![
    "Bash" = "bash" "powershell";
    "Read" = "view";
    "Write" = "create";
    "Edit" = "edit" "str_replace_editor" "apply_patch";
    "Grep" = "grep" "rg";
    "Glob" = "glob";
    "WebFetch" = "web_fetch";
    "WebSearch" = "web_search";
    "AskUserQuestion" = "ask_user";
    "TodoWrite" = "update_todo";
    "Agent" = "task";
    "Task" = "task";
];
