// Gives a gating point a result of its own.
use hooks_runtime::hook_points;

hook_points! {
    pub gating BeforeSend { text: String } -> String;
}

fn main() {}
