// Lists a function without the attribute.
use hooks_runtime::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn log(_: &SessionStartPayload) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![log])?;
    Ok(())
}
