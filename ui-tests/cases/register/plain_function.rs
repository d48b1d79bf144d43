// Gives a plain function to `register`, which takes registrations.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

async fn log(_: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(log)?;
    Ok(())
}
