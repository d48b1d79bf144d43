// Registers at a modifying point with the verb for void points.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    /// Before the system prompt is assembled.
    pub modifying BeforePromptBuild { session_id: String } -> { prepend_system: String }
}

async fn log(_: &BeforePromptBuildPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<BeforePromptBuild>(log)?;
    Ok(())
}
