// Declares a payload that borrows.
use hooks_runtime::hook_points;

hook_points! {
    pub void Received { text: &str, tags: Vec<&'a str> }
    pub gating BeforeSend(&str);
}

fn main() {}
