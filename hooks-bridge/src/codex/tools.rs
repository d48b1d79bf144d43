//! The tools: a matcher is tested against the canonical name and its aliases.

use crate::rules::Tool;

pub(super) const TOOLS: &[Tool] = &[
    Tool { common: "Bash", names: &["Bash"] },
    Tool { common: "Edit", names: &["apply_patch", "Write", "Edit"] },
    Tool { common: "Write", names: &["apply_patch", "Write", "Edit"] },
    Tool { common: "Agent", names: &["spawn_agent", "Agent"] },
    Tool { common: "Read", names: &["Read", "read_file"] },
    Tool { common: "WebSearch", names: &["web_search"] },
    Tool { common: "TodoWrite", names: &["update_plan"] },
    Tool { common: "ViewImage", names: &["view_image"] },
];
