// Gives a void point a result.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { session_id: String } -> { prefix: String }
}

fn main() {}
