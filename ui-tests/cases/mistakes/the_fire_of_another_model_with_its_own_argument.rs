use hooks_runtime::{FireError, HookRegistry, hook_points};

hook_points! {
    /// May this run?
    pub gating BeforeCommand { command: String }
    /// It ran.
    pub void AfterCommand { command: String }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FireError> {
    let hooks = HookRegistry::new();
    hooks.fire_void::<BeforeCommand>(BeforeCommandPayload { command: "ls".to_owned() }).await?;
    let ran = AfterCommandPayload { command: "ls".to_owned() };
    hooks.fire_gating::<AfterCommand>(&ran).await?;
    Ok(())
}
