// Has a handler that fits the point, but registers it with the wrong verb.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub modifying BeforePromptBuild { session_id: String } -> { prepend_system: String }
}

async fn today(_: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
    BeforePromptBuildResult::default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<BeforePromptBuild>(today)?;
    Ok(())
}
