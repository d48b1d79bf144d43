// Reads a field of the payload through the gate.
use hooks_runtime::{HookRegistry, hook_points};

pub struct ToolCall {
    pub name: String,
}

hook_points! {
    pub gating BeforeToolRun(ToolCall);
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let call = ToolCall { name: String::from("search") };
    let call = hooks.fire_gating::<BeforeToolRun>(call).await?;
    println!("{}", call.name);
    Ok(())
}
