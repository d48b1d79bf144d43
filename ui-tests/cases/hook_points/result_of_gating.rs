// Declares the reason of a rejection in place.
use hooks_runtime::hook_points;

hook_points! {
    pub gating BeforeSend { text: String } -> { why: String }
}

fn main() {}
