// Lists a closure.
use hooks_runtime::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![|_: &SessionStartPayload| {}])?;
    Ok(())
}
