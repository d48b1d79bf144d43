use hooks_runtime::{HookRegistry, RegisterError, hook_points};

hook_points! {
    /// Before the prompt is put together.
    pub modifying BeforePrompt { session_id: String } -> { prepend: String }
}

async fn today(_: &BeforePromptPayload) {}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register_void::<BeforePrompt>(today)?;
    Ok(())
}
