// Fires a gating point with a reference, though the payload must pass through.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let _ = hooks.fire_gating::<BeforeSend>(&BeforeSendPayload { text: String::new() }).await?;
    Ok(())
}
