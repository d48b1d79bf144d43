// Completes `on` with a function of the wrong result.
use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

fn desk(_: &RoutePayload) -> u32 {
    1
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<Route>().name("desk").handler(desk))?;
    Ok(())
}
