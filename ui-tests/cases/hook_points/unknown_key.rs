// Misspells a key of `#[hook]`.
use hooks_runtime::hook_points;

hook_points! {
    #[hook(timout = "5s")]
    pub void SessionStart { session_id: String }
}

fn main() {}
