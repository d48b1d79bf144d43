//! The tools. The names of this dialect are those that the bridge itself uses.

use crate::rules::Tool;

macro_rules! tools {
    ($($name:literal)*) => { &[$(Tool { common: $name, names: &[$name] }),*] };
}

pub(super) const TOOLS: &[Tool] = tools![
    "Agent" "AskUserQuestion" "Bash" "BashOutput" "Edit" "EnterPlanMode" "ExitPlanMode" "Glob" "Grep"
    "KillShell" "LS" "MultiEdit" "NotebookEdit" "NotebookRead" "Read" "Skill" "SlashCommand" "Task"
    "TodoWrite" "WebFetch" "WebSearch" "Write"
];
