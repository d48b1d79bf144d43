// Forgets the payload.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart;
    pub void SessionEnd();
}

fn main() {}
