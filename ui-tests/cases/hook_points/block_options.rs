// Writes options of the block that do not exist.
use hooks_runtime::hook_points;

hook_points! {
    #![hook(json = "camelcase", name = "session")]
    #![allow(missing_docs)]

    pub void SessionStart { session_id: String }
}

fn main() {}
