// Spreads a plugin over two impl blocks.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started_again(&self, _: &SessionStartPayload) {}
}

fn main() {}
