// Documents a point that is not there.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { session_id: String }

    /// The end of a session.
}

fn main() {}
