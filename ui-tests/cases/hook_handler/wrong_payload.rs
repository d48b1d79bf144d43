// Takes the payload of another point.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(_: &SessionEndPayload) {}

#[hook_handler(SessionStart)]
async fn log_later(_: &SessionEndPayload) {}

fn main() {}
