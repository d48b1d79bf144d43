// Takes something else where the context goes.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Database;

#[hook_handler(SessionStart)]
fn log(_: &SessionStartPayload, _: &Database) {}

fn main() {}
