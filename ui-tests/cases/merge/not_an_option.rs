// Derives the merge for fields that are not optional.
use hooks_runtime::Merge;

#[derive(Default, Merge)]
struct Amendment {
    prefix: String,
    tags: Vec<u32>,
}

fn main() {}
