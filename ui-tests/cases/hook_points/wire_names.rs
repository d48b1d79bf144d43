// Chooses wire names that cannot be on the wire.
use hooks_runtime::hook_points;

hook_points! {
    #[hook(name = "session start")]
    pub void SessionStart { session_id: String }

    #[hook(name = "")]
    pub void SessionEnd { session_id: String }

    pub void Größe { value: u32 }
}

fn main() {}
