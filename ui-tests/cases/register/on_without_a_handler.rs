// Registers options that no handler completes.
use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().priority(3))?;
    Ok(())
}
