// Returns something from a handler of a void point.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

async fn length(start: &SessionStartPayload) -> usize {
    start.session_id.len()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(length)?;
    Ok(())
}
