// Returns an async block that borrows the payload.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(|start: &SessionStartPayload| async move {
        println!("{}", start.session_id);
    })?;
    Ok(())
}
