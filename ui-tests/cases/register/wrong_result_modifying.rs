// Returns a string where the point's result is declared.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub modifying BeforePrompt { session_id: String } -> { prefix: String }
}

async fn today(_: &BeforePromptPayload) -> String {
    String::from("today")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_modifying::<BeforePrompt>(today)?;
    Ok(())
}
