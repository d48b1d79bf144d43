// Fails with a type that is not an error.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Broken;

#[hook_handler(SessionStart)]
async fn log(_: &SessionStartPayload) -> Result<(), Broken> {
    Err(Broken)
}

fn main() {}
