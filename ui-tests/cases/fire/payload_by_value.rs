// Fires with the payload by value.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.fire_void::<SessionStart>(SessionStartPayload { session_id: String::new() }).await?;
    Ok(())
}
