// Fails with a type that is not an error.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Broken;

async fn log(_: &SessionStartPayload) -> Result<(), Broken> {
    Err(Broken)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(log)?;
    Ok(())
}
