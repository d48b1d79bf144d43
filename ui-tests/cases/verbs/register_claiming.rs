// Registers with `register_claiming` at points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_claiming::<Told>(async |_: &ToldPayload| None)?;
    hooks.register_claiming::<Amended>(async |_: &AmendedPayload| None)?;
    hooks.register_claiming::<Gated>(async |_: &GatedPayload| None)?;
    hooks.register_claiming::<Run>(async |_: &RunPayload| None)?;
    hooks.register_claiming::<BeforeExecute<Run>>(async |_: &FlowContext<Run>| None)?;
    Ok(())
}
