// One of two methods takes the payload of another point.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    async fn started(&self, _: &SessionStartPayload) {}

    #[hook_handler(SessionEnd)]
    async fn ended(&self, _: &SessionStartPayload) {}
}

fn main() {}
