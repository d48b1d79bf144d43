use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().handler(|start| println!("{}", start.session_id)))?;
    Ok(())
}
