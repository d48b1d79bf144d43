// Declares a generic point.
use hooks_runtime::hook_points;

hook_points! {
    pub void Stored<T> { value: T }
}

fn main() {}
