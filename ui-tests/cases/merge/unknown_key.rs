// Gives the derive a key that it does not have.
use hooks_runtime::Merge;

#[derive(Default, Merge)]
#[merge(krate = hooks_runtime)]
struct Amendment {
    prefix: Option<String>,
}

fn main() {}
