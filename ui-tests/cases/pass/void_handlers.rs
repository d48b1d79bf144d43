// Every form of a handler of a void point, annotated and plain.
use hooks_runtime::{HookContext, HookRegistry, handlers, hook_handler, hook_points, on};

hook_points! {
    pub void Told { n: u32 }
}

#[hook_handler(Told)]
fn sync_unit(_: &ToldPayload) {}

#[hook_handler(Told)]
fn sync_result(_: &ToldPayload) -> Result<(), std::io::Error> {
    Ok(())
}

#[hook_handler(Told)]
fn sync_context(_: &ToldPayload, _: &HookContext) {}

#[hook_handler(Told)]
fn sync_context_result(_: &ToldPayload, _: &HookContext) -> Result<(), String> {
    Ok(())
}

#[hook_handler(Told)]
async fn async_unit(_: &ToldPayload) {}

#[hook_handler(Told)]
async fn async_result(_: &ToldPayload) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Ok(())
}

#[hook_handler(Told)]
async fn async_context(_: &ToldPayload, _: &HookContext) {}

#[hook_handler(Told)]
async fn async_context_result(_: &ToldPayload, _: &HookContext) -> Result<(), &'static str> {
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![
        sync_unit,
        sync_result,
        sync_context,
        sync_context_result,
        async_unit,
        async_result,
        async_context,
        async_context_result,
    ])?;
    hooks.register_void::<Told>(async_unit)?;
    hooks.register_void::<Told>(async_result)?;
    hooks.register_void::<Told>(async |_: &ToldPayload| {})?;
    hooks.register_void::<Told>(async |_: &ToldPayload| Ok::<(), String>(()))?;
    hooks.register(on::<Told>().handler(sync_unit))?;
    hooks.register(on::<Told>().handler(sync_result))?;
    hooks.register(on::<Told>().handler(sync_context))?;
    hooks.register(on::<Told>().handler(sync_context_result))?;
    hooks.register(on::<Told>().handler(async_unit))?;
    hooks.register(on::<Told>().handler(async_result))?;
    hooks.register(on::<Told>().handler(async_context))?;
    hooks.register(on::<Told>().handler(async_context_result))?;
    Ok(())
}
