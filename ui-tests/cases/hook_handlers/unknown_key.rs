// Gives the block a key that only methods have.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit", priority = 3)]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() {}
