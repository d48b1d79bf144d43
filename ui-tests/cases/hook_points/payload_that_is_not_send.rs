// Declares payloads that cannot go to another thread.
use std::rc::Rc;

use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { tags: Rc<str> }
    pub void SessionEnd(Rc<str>);
}

fn main() {}
