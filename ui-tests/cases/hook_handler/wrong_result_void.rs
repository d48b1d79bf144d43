// Returns something from a handler of a void point.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn length(start: &SessionStartPayload) -> usize {
    start.session_id.len()
}

fn main() {}
