// The operation of a flow takes another input.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

async fn execute(n: u32) -> Result<u32, std::io::Error> {
    Ok(n)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.run_flow::<Call, _>(CallPayload { n: 1 }, execute).await?;
    Ok(())
}
