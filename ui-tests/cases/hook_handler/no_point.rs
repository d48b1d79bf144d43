// Forgets the point.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler]
fn log(_: &SessionStartPayload) {}

#[hook_handler(priority = 3)]
fn log_again(_: &SessionStartPayload) {}

fn main() {}
