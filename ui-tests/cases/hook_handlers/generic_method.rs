// Writes a generic method.
use hooks_runtime::{HookPoint, hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started<P: HookPoint>(&self, _: &P::Payload) {}
}

fn main() {}
