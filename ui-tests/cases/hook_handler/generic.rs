// Writes a generic handler.
use hooks_runtime::{HookPoint, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log<P: HookPoint>(_: &P::Payload) {}

fn main() {}
