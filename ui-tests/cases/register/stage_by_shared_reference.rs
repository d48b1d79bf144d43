// Takes a flow's context by shared reference.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

async fn look(_: &FlowContext<Call>) {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_stage::<BeforeExecute<Call>>(look)?;
    Ok(())
}
