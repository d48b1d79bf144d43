// Gives most keys a value that they cannot have.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(
    SessionStart,
    plugin = 3,
    name = "",
    priority = high,
    timeout = "5 seconds",
    on_failure = "ignore",
    before = 3,
    after = [audit],
    target = ,
    guard = true,
    pure = true,
    crate = "hooks",
)]
fn log(_: &SessionStartPayload) {}

fn main() {}
