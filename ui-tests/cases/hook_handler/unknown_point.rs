// Names a point that does not exist.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStrat)]
fn log(_: &SessionStartPayload) {}

fn main() {}
