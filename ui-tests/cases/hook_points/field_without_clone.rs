// Puts a field in a payload that cannot be cloned or printed.
use hooks_runtime::hook_points;

pub struct Connection;

hook_points! {
    pub void SessionStart { connection: Connection }
}

fn main() {}
