use std::sync::Arc;

use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    let prefix: Arc<str> = "session".into();
    hooks.register(on::<SessionStart>().handler(async move |start: &SessionStartPayload| {
        println!("{prefix} {}", start.session_id);
    }))?;
    Ok(())
}
