// Gives `register_guard` and `register_guard_with` functions that are not async.
use hooks_runtime::{HookRegistry, Verdict, hook_points};

hook_points! {
    pub gating BeforeSend { text: String }
}

fn short(message: &BeforeSendPayload) -> Verdict {
    if message.text.len() < 140 { Verdict::Pass } else { Verdict::reject("too long") }
}

fn within(limit: &usize, message: &BeforeSendPayload) -> Verdict {
    if message.text.len() < *limit { Verdict::Pass } else { Verdict::reject("too long") }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_guard::<BeforeSend>(short)?;
    hooks.register_guard_with::<BeforeSend, _>(140, within)?;
    Ok(())
}
