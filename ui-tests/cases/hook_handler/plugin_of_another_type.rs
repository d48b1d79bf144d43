// Names the plugin with a constant that is not a string.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

const PLUGIN: u32 = 3;

#[hook_handler(SessionStart, plugin = PLUGIN)]
fn log(_: &SessionStartPayload) {}

fn main() {}
