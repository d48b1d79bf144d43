// Claims with a value of another type.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub claiming Route { text: String } -> u32;
}

async fn desk(route: &RoutePayload) -> Option<String> {
    Some(route.text.clone())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_claiming::<Route>(desk)?;
    Ok(())
}
