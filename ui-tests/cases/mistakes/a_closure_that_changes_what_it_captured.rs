use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    let mut count = 0;
    hooks.register(on::<SessionStart>().handler(move |_: &SessionStartPayload| count += 1))?;
    Ok(())
}
