// Completes `on` with a function of another payload.
use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

fn log(_: &SessionEndPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().name("log").handler(log))?;
    Ok(())
}
