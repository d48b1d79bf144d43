// Forgets the rejection.
use hooks_runtime::{Gate, HookRegistry, hook_points};

hook_points! {
    pub gating BeforeToolRun(String);
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    match hooks.fire_gating::<BeforeToolRun>(String::from("search")).await? {
        Gate::Passed(call) => println!("{call}"),
    }
    Ok(())
}
