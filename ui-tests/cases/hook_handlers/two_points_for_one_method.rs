// Marks a method for two points.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
    pub void SessionEnd { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    #[hook_handler(SessionEnd)]
    fn log(&self, _: &SessionStartPayload) {}
}

fn main() {}
