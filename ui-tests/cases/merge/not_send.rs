// Merges a result that cannot go to another thread.
use std::rc::Rc;

use hooks_runtime::Merge;

#[derive(Default, Merge)]
struct Amendment {
    prefix: Option<Rc<str>>,
}

fn main() {}
