// Lists a method of a plugin.
use hooks_runtime::{HookRegistry, handlers, hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    HookRegistry::new().register(handlers![Audit::started])?;
    Ok(())
}
