//! The tools, by their own names.

use crate::rules::{Mcp, Tool};

macro_rules! tools {
    ($($common:literal = $name:literal)*) => { &[$(Tool { common: $common, names: &[$name] }),*] };
}

pub(super) const TOOLS: &[Tool] = tools![
    "Edit" = "replace"
    "Bash" = "run_shell_command"
    "Read" = "read_file"
    "Write" = "write_file"
    "Glob" = "glob"
    "Grep" = "grep"
    "LS" = "ls"
    "WebFetch" = "web_fetch"
    "WebSearch" = "google_web_search"
    "TodoWrite" = "write_todos"
    "ReadMany" = "read_many_files"
    "ListDirectory" = "list_directory"
    "SearchFiles" = "search_file_content"
    "SaveMemory" = "save_memory"
];

/// The tools of servers.
pub(super) const MCP: Mcp =
    Mcp { prefix: "mcp_", name: |server, tool| format!("mcp_{server}_{tool}") };
