// Returns a string where the point's result is declared.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub modifying BeforePrompt { session_id: String } -> { prefix: String }
}

#[hook_handler(BeforePrompt)]
fn today(_: &BeforePromptPayload) -> String {
    String::from("today")
}

fn main() {}
