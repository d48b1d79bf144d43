// Completes `on` with a guard at points that are not gating.
use hooks_runtime::{HookRegistry, Verdict, hook_points, on};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<Told>().guard(|_: &ToldPayload| Verdict::Pass))?;
    hooks.register(on::<Amended>().guard(|_: &AmendedPayload| Verdict::Pass))?;
    hooks.register(on::<Claimed>().guard(|_: &ClaimedPayload| Verdict::Pass))?;
    hooks.register(on::<Told>().guard_with(1, |_: &i32, _: &ToldPayload| Verdict::Pass))?;
    Ok(())
}
