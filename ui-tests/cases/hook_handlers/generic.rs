// Makes a plugin of a generic impl block.
use hooks_runtime::{HookRegistry, hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit<D>(D);

#[hook_handlers(plugin = "audit")]
impl<D: Send + Sync + 'static> Audit<D> {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() {
    let _ = HookRegistry::new().install(Audit(3));
}
