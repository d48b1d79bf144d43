// An attribute of the macro under a misspelt name.
use hooks_runtime::hook_points;

hook_points! {
    #[hok(timeout = "5s")]
    pub void SessionStart { session_id: String }

    #[paylod(derive(PartialEq))]
    pub void SessionEnd { session_id: String }
}

fn main() {}
