// Captures state in a guard that is an async closure.
use hooks_runtime::{HookRegistry, Verdict, hook_points, on};

hook_points! {
    pub gating BeforeSend { text: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let limit = String::from("3");
    hooks.register(on::<BeforeSend>().guard(async move |message: &BeforeSendPayload| {
        if message.text < limit { Verdict::Pass } else { Verdict::reject("too long") }
    }))?;
    Ok(())
}
