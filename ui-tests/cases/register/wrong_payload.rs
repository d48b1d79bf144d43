// Registers a function that takes the payload of another point.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

async fn log(_: &SessionEndPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(log)?;
    Ok(())
}
