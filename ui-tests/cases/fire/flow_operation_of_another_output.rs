// The operation of a flow returns another output.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

async fn execute(call: CallPayload) -> Result<String, std::io::Error> {
    Ok(call.n.to_string())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.run_flow::<Call, _>(CallPayload { n: 1 }, execute).await?;
    Ok(())
}
