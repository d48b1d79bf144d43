// Registers two methods under one name at one point.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart, name = "audit")]
    fn first(&self, _: &SessionStartPayload) {}

    #[hook_handler(SessionStart, name = "audit")]
    fn second(&self, _: &SessionStartPayload) {}
}

fn main() {}
