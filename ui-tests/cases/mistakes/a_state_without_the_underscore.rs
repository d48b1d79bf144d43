use hooks_runtime::{HookRegistry, RegisterError, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<SessionStart>("new", async |word, start| {
        println!("{word}: {}", start.session_id);
    })?;
    Ok(())
}
