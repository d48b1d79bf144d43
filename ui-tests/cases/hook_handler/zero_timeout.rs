// Sets a timeout that no handler can keep.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart, timeout = "0s")]
fn log(_: &SessionStartPayload) {}

fn main() {}
