use hooks_runtime::{FireError, HookRegistry, hook_points};

hook_points! {
    /// Before the prompt is put together.
    pub modifying BeforePrompt { session_id: String } -> { prefix: String, suffix: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FireError> {
    let hooks = HookRegistry::new();
    let prompt = BeforePromptPayload { session_id: "s1".to_owned() };
    hooks.fire_void::<BeforePrompt>(&prompt).await?;
    Ok(())
}
