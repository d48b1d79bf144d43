// Returns the answer from a stage instead of giving it to `flow.respond`.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

async fn cached(_: &mut FlowContext<Call>) -> Option<u32> {
    Some(1)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_stage::<BeforeExecute<Call>>(cached)?;
    Ok(())
}
