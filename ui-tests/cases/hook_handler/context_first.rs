// Takes the context before the payload.
use hooks_runtime::{HookContext, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(_: &HookContext, _: &SessionStartPayload) {}

fn main() {}
