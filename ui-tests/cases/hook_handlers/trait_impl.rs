// Makes a plugin of a trait's impl block.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

trait Listener {
    fn started(&self, start: &SessionStartPayload);
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Listener for Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

fn main() {}
