// The operation of a flow returns the bare output.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.run_flow::<Call, _>(CallPayload { n: 1 }, async |call: CallPayload| call.n).await?;
    Ok(())
}
