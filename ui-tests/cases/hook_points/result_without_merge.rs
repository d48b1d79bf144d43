// Names a result that cannot be merged.
use hooks_runtime::hook_points;

pub struct Amendment {
    pub prefix: Option<String>,
}

hook_points! {
    pub modifying BeforePrompt { session_id: String } -> Amendment;
}

fn main() {}
