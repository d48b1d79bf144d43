// Gives a state of one type to a function of another.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Database;

async fn insert(_: &Database, _: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<SessionStart, _>(String::new(), insert)?;
    Ok(())
}
