// Registers with `register_void` at points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<Amended>(async |_: &AmendedPayload| {})?;
    hooks.register_void::<Claimed>(async |_: &ClaimedPayload| {})?;
    hooks.register_void::<Gated>(async |_: &GatedPayload| {})?;
    hooks.register_void::<Run>(async |_: &RunPayload| {})?;
    hooks.register_void::<BeforeExecute<Run>>(async |_: &FlowContext<Run>| {})?;
    Ok(())
}
