// Puts the attribute on a type.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
struct Log;

fn main() {}
