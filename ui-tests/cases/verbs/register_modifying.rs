// Registers with `register_modifying` at points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_modifying::<Told>(async |_: &ToldPayload| None)?;
    hooks.register_modifying::<Claimed>(async |_: &ClaimedPayload| None)?;
    hooks.register_modifying::<Gated>(async |_: &GatedPayload| None)?;
    hooks.register_modifying::<Run>(async |_: &RunPayload| None)?;
    hooks.register_modifying::<BeforeExecute<Run>>(async |_: &FlowContext<Run>| None)?;
    Ok(())
}
