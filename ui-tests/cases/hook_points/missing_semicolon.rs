// Forgets the semicolon after a named type.
use hooks_runtime::hook_points;

hook_points! {
    pub gating BeforeSend(String)
    pub claiming Route(String) -> u32
    pub void SessionStart { session_id: String }
}

fn main() {}
