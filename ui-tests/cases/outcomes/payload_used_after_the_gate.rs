// Goes on with the payload that was given to the gate.
use hooks_runtime::{Gate, HookRegistry, hook_points};

hook_points! {
    pub gating BeforeToolRun(String);
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let call = String::from("search");
    if let Gate::Rejected(_) = hooks.fire_gating::<BeforeToolRun>(call).await? {
        return Ok(());
    }
    println!("{call}");
    Ok(())
}
