// Derives the merge for a struct without named fields.
use hooks_runtime::Merge;

#[derive(Default, Merge)]
struct Amendment(Option<String>);

fn main() {}
