// Derives the merge for an enum and for a union.
use hooks_runtime::Merge;

#[derive(Default, Merge)]
enum Amendment {
    #[default]
    Nothing,
}

#[derive(Merge)]
union Raw {
    number: u32,
}

fn main() {}
