// Lists a handler of a module under a misspelt name.
use hooks_runtime::{HookRegistry, handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

mod audit {
    use super::{SessionStart, SessionStartPayload};

    #[hooks_runtime::hook_handler(SessionStart)]
    pub fn record(_: &SessionStartPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![audit::recrod])?;
    Ok(())
}
