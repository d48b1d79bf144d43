// Names the plugin on a method instead of the block.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers]
impl Audit {
    #[hook_handler(SessionStart, plugin = "audit")]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() {}
