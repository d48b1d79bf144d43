// Lists a point, or a payload, instead of a handler.
use hooks_runtime::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![SessionStart, SessionStartPayload])?;
    Ok(())
}
