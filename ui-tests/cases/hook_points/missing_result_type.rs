// Writes an arrow and nothing after it.
use hooks_runtime::hook_points;

hook_points! {
    pub claiming Route { text: String } -> ;
}

fn main() {}
