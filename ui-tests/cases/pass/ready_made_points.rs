// Handlers of the ready-made points.
use hooks_points::{SessionStart, SessionStartPayload};
use hooks_runtime::{HookRegistry, handlers, hook_handler};

#[hook_handler(SessionStart)]
async fn log_session(start: &SessionStartPayload) {
    assert!(!start.session_id.is_empty());
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![log_session])?;
    hooks.register_void::<SessionStart>(log_session)?;
    Ok(())
}
