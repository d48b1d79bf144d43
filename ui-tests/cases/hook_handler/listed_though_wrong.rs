// Wrong handlers in a list: the list adds nothing to what is said of them.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

#[hook_handler(SessionStart)]
fn generic<T>(_: &T) {}

#[hook_handler(SessionStart)]
async fn none() {}

#[hook_handler(SessionStart)]
fn other(_: &SessionEndPayload) {}

#[hook_handler(SessionStart)]
const unsafe fn qualified(_: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![generic, none, other, qualified])?;
    Ok(())
}
