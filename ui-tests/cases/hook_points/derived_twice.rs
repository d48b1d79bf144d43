// Derives what is derived already.
use hooks_runtime::hook_points;

hook_points! {
    #[payload(derive(Clone, PartialEq))]
    #[result(derive(Default))]
    pub modifying BeforePrompt { session_id: String } -> { prefix: String }
}

fn main() {}
