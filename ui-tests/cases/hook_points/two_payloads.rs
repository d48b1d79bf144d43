// Names two types as the payload.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart(String, u32);
}

fn main() {}
