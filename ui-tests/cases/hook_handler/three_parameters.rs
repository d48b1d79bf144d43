// Takes more than the payload and the context.
use hooks_runtime::{HookContext, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(_: &SessionStartPayload, _: &HookContext, _: u32) {}

fn main() {}
