use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    /// Before the prompt is put together.
    pub modifying BeforePrompt { session_id: String } -> { prefix: String, suffix: String }
}

#[hook_handler(BeforePrompt)]
fn today(_: &BeforePromptPayload) -> BeforePromptResult {
    BeforePromptResult { prefix: "It is Monday.".into(), ..Default::default() }
}

fn main() {}
