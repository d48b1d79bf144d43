// Derives the merge, but not `Default`.
use hooks_runtime::Merge;

#[derive(Merge)]
struct Amendment {
    prefix: Option<String>,
}

fn main() {}
