// Lists a string, a reference and an expression next to a handler.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(_: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers!["log", &log, 3 + 4, log])?;
    Ok(())
}
