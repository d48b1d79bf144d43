// Says whether the payload passes with a `bool`.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

async fn polite(message: &BeforeSendPayload) -> bool {
    !message.text.is_empty()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_gating::<BeforeSend>(polite)?;
    Ok(())
}
