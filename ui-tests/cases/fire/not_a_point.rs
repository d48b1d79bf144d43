// Fires the payload's type instead of the point.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let start = SessionStartPayload { session_id: String::new() };
    hooks.fire_void::<SessionStartPayload>(&start).await?;
    Ok(())
}
