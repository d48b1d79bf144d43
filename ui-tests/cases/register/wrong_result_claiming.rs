// Claims with the bare value instead of an `Option` of it.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

async fn desk(_: &RoutePayload) -> u32 {
    1
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_claiming::<Route>(desk)?;
    Ok(())
}
