use hooks_runtime::{hook_handler, hook_points};

#[derive(Default)]
pub struct Amendment {
    pub prefix: Option<String>,
}

hook_points! {
    /// Before the prompt is put together.
    pub modifying BeforePrompt { session_id: String } -> Amendment;
}

#[hook_handler(BeforePrompt)]
fn today(_: &BeforePromptPayload) -> Amendment {
    Amendment { prefix: Some("It is Monday.".to_owned()) }
}

fn main() {}
