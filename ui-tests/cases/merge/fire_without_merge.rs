// Fires and handles a point whose result is not merged.
use hooks_runtime::{HookRegistry, hook_handler, hook_points};

#[derive(Default)]
pub struct Amendment {
    pub prefix: Option<String>,
}

hook_points! {
    pub modifying BeforePrompt { session_id: String } -> Amendment;
}

#[hook_handler(BeforePrompt)]
fn today(_: &BeforePromptPayload) -> Amendment {
    Amendment::default()
}

async fn fire(hooks: &HookRegistry, prompt: &BeforePromptPayload) {
    let _ = hooks.fire_modifying::<BeforePrompt>(prompt).await;
}

fn main() {}
