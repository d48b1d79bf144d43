// Forgets `&self`.
use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(SessionStart)]
    fn started(_: &SessionStartPayload) {}
}

fn main() {}
