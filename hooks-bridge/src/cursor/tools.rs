//! The tools, by their own names.

use crate::rules::{Mcp, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool { common: "Bash", names: &["Shell"] },
    Tool { common: "Read", names: &["Read"] },
    Tool { common: "Write", names: &["Write"] },
    Tool { common: "Edit", names: &["Write"] },
    Tool { common: "Grep", names: &["Grep"] },
    Tool { common: "Delete", names: &["Delete"] },
    Tool { common: "Task", names: &["Task"] },
    Tool { common: "MCP", names: &["MCP"] },
];

/// The tools of servers, by their own names alone.
pub(super) const MCP: Mcp = Mcp { prefix: "MCP:", name: |_, tool| format!("MCP:{tool}") };
