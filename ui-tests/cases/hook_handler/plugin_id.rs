// Plugin ids with characters that no id may have.
use hooks_runtime::{hook_handler, hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart, plugin = "my plugin")]
fn spaced(_: &SessionStartPayload) {}

struct Audit;

#[hook_handlers(plugin = "audit/")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() {}
