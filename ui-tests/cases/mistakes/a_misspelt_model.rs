use hooks_runtime::hook_points;

hook_points! {
    /// A session begins.
    pub viod SessionStart { session_id: String }
}

fn main() {}
