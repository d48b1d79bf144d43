// Takes the plugin exclusively or by value.
use std::sync::Arc;

use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn exclusive(&mut self, _: &SessionStartPayload) {}

    #[hook_handler(SessionStart)]
    fn by_value(self, _: &SessionStartPayload) {}

    #[hook_handler(SessionStart)]
    fn counted(self: Arc<Self>, _: &SessionStartPayload) {}
}

fn main() {}
