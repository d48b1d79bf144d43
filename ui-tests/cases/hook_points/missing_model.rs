// Forgets the model.
use hooks_runtime::hook_points;

hook_points! {
    pub SessionStart { session_id: String }
}

fn main() {}
