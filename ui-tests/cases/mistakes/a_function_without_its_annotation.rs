use hooks_runtime::{HookRegistry, RegisterError, handlers, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

async fn log_session(start: &SessionStartPayload) {
    println!("{}", start.session_id);
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![log_session])?;
    Ok(())
}
