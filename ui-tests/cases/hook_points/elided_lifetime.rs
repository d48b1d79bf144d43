// Names a payload whose lifetime is left out.
use hooks_runtime::hook_points;

pub struct Message<'a>(pub &'a str);

hook_points! {
    pub void Sent(Message);
}

fn main() {}
