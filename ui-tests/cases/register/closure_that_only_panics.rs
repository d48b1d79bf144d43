// Returns nothing that a model could accept.
use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().handler(|_: &SessionStartPayload| panic!()))?;
    Ok(())
}
