// Methods at different points may share a name.
use hooks_runtime::{HookRegistry, hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart, name = "log")]
    fn started(&self, _: &SessionStartPayload) {}

    #[hook_handler(SessionEnd, name = "log")]
    fn ended(&self, _: &SessionEndPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let _audit = HookRegistry::new().install(Audit)?;
    Ok(())
}
