// Names a type of one's own `Option`.
use hooks_runtime::Merge;

#[derive(Default)]
struct Option<T>(T);

#[derive(Default, Merge)]
struct Amendment {
    prefix: Option<String>,
}

fn main() {}
