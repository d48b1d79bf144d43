// Puts attributes on a payload that is declared elsewhere, and on no result.
use hooks_runtime::hook_points;

hook_points! {
    #[payload(derive(PartialEq))]
    pub void SessionStart(String);

    #[result(derive(PartialEq))]
    pub void SessionEnd { session_id: String }
}

fn main() {}
