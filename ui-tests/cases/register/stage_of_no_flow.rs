// Names a stage of a point that is not a flow.
use hooks_runtime::{BeforeExecute, HookRegistry, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks
        .register(on::<BeforeExecute<SessionStart>>().handler(|_: &mut SessionStartPayload| {}))?;
    Ok(())
}
