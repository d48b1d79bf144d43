// Misspells a key.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart, prioritiy = 3)]
fn log(_: &SessionStartPayload) {}

fn main() {}
