// Registers with `register_guard` at points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, Verdict, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub flow Run { n: u32 } -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_guard::<Told>(async |_: &ToldPayload| Verdict::Pass)?;
    hooks.register_guard::<Amended>(async |_: &AmendedPayload| Verdict::Pass)?;
    hooks.register_guard::<Claimed>(async |_: &ClaimedPayload| Verdict::Pass)?;
    hooks.register_guard::<Run>(async |_: &RunPayload| Verdict::Pass)?;
    hooks.register_guard::<BeforeExecute<Run>>(async |_: &FlowContext<Run>| Verdict::Pass)?;
    Ok(())
}
