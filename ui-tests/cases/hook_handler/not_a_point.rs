// Names the payload instead of the point.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStartPayload)]
fn log(_: &SessionStartPayload) {}

fn main() {}
