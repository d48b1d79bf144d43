// Registers guards that replace the payload.
use hooks_runtime::{HookRegistry, Verdict, hook_points, on};

hook_points! {
    pub gating BeforeToolRun(String);
}

async fn shorten(_: &String) -> Verdict<String> {
    Verdict::Replace(String::new())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_guard::<BeforeToolRun>(shorten)?;
    hooks.register(on::<BeforeToolRun>().guard(|_: &String| Verdict::Replace(String::new())))?;
    Ok(())
}
