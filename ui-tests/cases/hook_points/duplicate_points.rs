// Declares two points of one name.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionStart { platform: String }
}

fn main() {}
