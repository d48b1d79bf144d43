// Completes `on` with a closure of another payload.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points, on};

hook_points! {
    pub void Saved { page: u32 }
    pub void Opened { page: u32 }
    pub flow Print(u32) -> u32;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<Saved>().handler(|_: &OpenedPayload| {}))?;
    hooks.register(on::<Saved>().handler_with(3, |_: &u32, _: &OpenedPayload| {}))?;
    hooks.register(on::<BeforeExecute<Print>>().handler(|_: &FlowContext<Print>| {}))?;
    Ok(())
}
