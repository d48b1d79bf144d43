// Uses a claim without asking whether there is one.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub claiming Route(String) -> u32;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let desk: u32 = hooks.fire_claiming::<Route>(&String::new()).await?;
    println!("{desk}");
    Ok(())
}
