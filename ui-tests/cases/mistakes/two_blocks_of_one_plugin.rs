use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
    /// A session ends.
    pub void SessionEnd { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(&self, _: &SessionStartPayload) {}
}

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionEnd)]
    fn ended(&self, _: &SessionEndPayload) {}
}

fn main() {}
