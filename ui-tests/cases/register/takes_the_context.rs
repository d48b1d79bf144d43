// Gives a function that takes the context to `register_void`.
use hooks_runtime::{HookContext, HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

async fn log(_: &SessionStartPayload, _: &HookContext) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(log)?;
    Ok(())
}
