// Registers with `register_stage` at points of every other model.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_stage::<Told>(async |_: &mut ToldPayload| {})?;
    hooks.register_stage::<Amended>(async |_: &mut AmendedPayload| {})?;
    hooks.register_stage::<Claimed>(async |_: &mut ClaimedPayload| {})?;
    hooks.register_stage::<Gated>(async |_: &mut GatedPayload| {})?;
    hooks.register_stage::<Run>(async |_: &mut RunPayload| {})?;
    Ok(())
}
