// Takes the payload by exclusive reference.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(start: &mut SessionStartPayload) {
    start.session_id.clear();
}

fn main() {}
