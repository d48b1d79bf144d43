// Gives the keys of `#[hook]` values that they cannot have.
use hooks_runtime::hook_points;

hook_points! {
    #[hook(name = session, timeout = 5, on_failure = "ignore")]
    pub void SessionStart { session_id: String }

    #[hook(timeout = "5 seconds")]
    pub void SessionEnd { session_id: String }

    #[hook]
    pub void SessionIdle { session_id: String }
}

fn main() {}
