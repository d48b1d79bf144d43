use hooks_runtime::hook_points;

hook_points! {
    /// A session begins.
    #[hook(timeout = 5)]
    pub void SessionStart { session_id: String }
}

fn main() {}
