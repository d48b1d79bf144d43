// Writes handlers with qualifiers that a handler cannot have.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

#[hook_handler(SessionStart)]
const unsafe extern "C" fn log(_: &SessionStartPayload) {}

fn main() {}
