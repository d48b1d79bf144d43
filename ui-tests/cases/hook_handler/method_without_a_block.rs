// Marks a method, but not its impl block.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Audit;

impl Audit {
    #[hook_handler(SessionStart)]
    fn log(&self, _: &SessionStartPayload) {}
}

fn main() {}
