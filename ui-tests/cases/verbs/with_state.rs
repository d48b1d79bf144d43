// Calls the forms of `register_*` with a state for points of another model.
use hooks_runtime::{HookRegistry, Verdict, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub gating Gated { n: u32 }
    pub claiming Claimed { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<Gated, _>((), async |_: &(), _: &GatedPayload| {})?;
    hooks.register_claiming_with::<Told, _>((), async |_: &(), _: &ToldPayload| None)?;
    hooks
        .register_gating_with::<Claimed, _>((), async |_: &(), _: &ClaimedPayload| Verdict::Pass)?;
    hooks.register_guard_with::<Told, _>((), async |_: &(), _: &ToldPayload| Verdict::Pass)?;
    Ok(())
}
