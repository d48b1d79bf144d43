// Gives guards with state that return a replacement.
use hooks_runtime::{HookRegistry, Verdict, hook_points, on};

hook_points! {
    pub gating BeforeSend { text: String }
}

fn cut(limit: &usize, message: &BeforeSendPayload) -> Verdict<BeforeSendPayload> {
    Verdict::Replace(BeforeSendPayload { text: message.text[..*limit].to_owned() })
}

async fn cut_later(limit: &usize, message: &BeforeSendPayload) -> Verdict<BeforeSendPayload> {
    cut(limit, message)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<BeforeSend>().guard_with(3, cut))?;
    hooks.register_guard_with::<BeforeSend, _>(3, cut_later)?;
    Ok(())
}
