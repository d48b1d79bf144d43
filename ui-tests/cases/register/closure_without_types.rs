// Leaves out the type of the closure's parameter.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(async |start| println!("{}", start.session_id))?;
    Ok(())
}
