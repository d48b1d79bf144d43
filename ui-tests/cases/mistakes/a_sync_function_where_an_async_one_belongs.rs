use hooks_runtime::{HookRegistry, RegisterError, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

fn log_session(start: &SessionStartPayload) {
    println!("{}", start.session_id);
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(log_session)?;
    Ok(())
}
