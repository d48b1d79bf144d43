// Drops the outcome of a gate.
#![deny(unused_must_use)]
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub gating BeforeToolRun(String);
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.fire_gating::<BeforeToolRun>(String::from("search")).await?;
    Ok(())
}
