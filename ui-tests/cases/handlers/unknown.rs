// Lists a function that does not exist.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
fn log_session(_: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![log_session, log_sesion])?;
    Ok(())
}
