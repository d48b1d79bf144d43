// Uses the payload of a gate without matching.
use hooks_runtime::{HookRegistry, hook_points};

pub struct ToolCall {
    pub name: String,
}

hook_points! {
    pub gating BeforeToolRun(ToolCall);
}

fn run(call: ToolCall) -> String {
    call.name
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let call = ToolCall { name: String::from("search") };
    let call = hooks.fire_gating::<BeforeToolRun>(call).await?;
    run(call);
    Ok(())
}
