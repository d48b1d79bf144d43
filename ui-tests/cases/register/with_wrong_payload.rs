// Gives `register_void_with` a function of another payload.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

struct Database;

async fn insert(_: &Database, _: &SessionEndPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<SessionStart, _>(Database, insert)?;
    Ok(())
}
