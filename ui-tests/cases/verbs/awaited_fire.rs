// Fires a modifying point with the verb for void points.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub modifying BeforePromptBuild { session_id: String } -> { prepend_system: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let prompt = BeforePromptBuildPayload { session_id: String::new() };
    hooks.fire_void::<BeforePromptBuild>(&prompt).await?;
    Ok(())
}
