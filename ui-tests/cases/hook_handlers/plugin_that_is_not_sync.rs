// Keeps state that cannot be shared between threads.
use std::cell::Cell;

use hooks_runtime::{hook_handlers, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Counter {
    sessions: Cell<u32>,
}

#[hook_handlers(plugin = "counter")]
impl Counter {
    #[hook_handler(SessionStart)]
    fn count(&self, _: &SessionStartPayload) {
        self.sessions.set(self.sessions.get() + 1);
    }
}

fn main() {}
