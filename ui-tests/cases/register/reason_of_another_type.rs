// Registers handlers that reject for a reason that the point does not declare.
use hooks_runtime::{HookRegistry, Judgement, Verdict, hook_points, on};

pub enum Denied {
    Forbidden,
}

impl std::fmt::Display for Denied {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("forbidden")
    }
}

hook_points! {
    pub gating Authorize(String) -> Denied;
    pub gating BeforeSend(String);
}

async fn text(_: &String) -> Verdict<String> {
    Verdict::reject("no")
}

async fn typed(_: &String) -> Judgement<Denied> {
    Judgement::Reject(Denied::Forbidden)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_gating::<Authorize>(text)?;
    hooks.register_guard::<BeforeSend>(typed)?;
    hooks.register(on::<BeforeSend>().guard(typed))?;
    hooks.register(on::<Authorize>().guard(|_: &String| Judgement::Reject("no".to_owned())))?;
    Ok(())
}
