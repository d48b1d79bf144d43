// Registers functions that return a guard's verdict as rewriters with state.
use hooks_runtime::{HookRegistry, Verdict, hook_points, on};

hook_points! {
    pub gating BeforeSend { text: String }
}

fn within(limit: &usize, message: &BeforeSendPayload) -> Verdict {
    if message.text.len() <= *limit { Verdict::Pass } else { Verdict::reject("too long") }
}

async fn within_later(limit: &usize, message: &BeforeSendPayload) -> Verdict {
    within(limit, message)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<BeforeSend>().handler_with(3, within))?;
    hooks.register_gating_with::<BeforeSend, _>(3, within_later)?;
    Ok(())
}
