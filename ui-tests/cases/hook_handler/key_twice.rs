// Gives a key twice.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart, priority = 3, priority = 4)]
fn log(_: &SessionStartPayload) {}

#[hook_handler(SessionStart, pure, pure)]
fn look(_: &SessionStartPayload) {}

fn main() {}
