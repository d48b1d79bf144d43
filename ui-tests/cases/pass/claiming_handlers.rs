// Every form of a handler of a claiming point, annotated and plain.
use hooks_runtime::{Claim, HookContext, HookRegistry, handlers, hook_handler, hook_points, on};

hook_points! {
    pub claiming Claimed { n: u32 } -> u32;
}

#[hook_handler(Claimed)]
fn sync_option(_: &ClaimedPayload) -> Option<u32> {
    None
}

#[hook_handler(Claimed)]
fn sync_result(_: &ClaimedPayload, _: &HookContext) -> Result<Option<u32>, String> {
    Ok(None)
}

#[hook_handler(Claimed)]
async fn async_option(_: &ClaimedPayload, _: &HookContext) -> Option<u32> {
    None
}

#[hook_handler(Claimed)]
async fn async_result(claim: &ClaimedPayload) -> Result<Option<u32>, String> {
    Ok(Some(claim.n))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![sync_option, sync_result, async_option, async_result])?;
    hooks.register_claiming::<Claimed>(async_result)?;
    hooks.register_claiming::<Claimed>(async |_: &ClaimedPayload| None)?;
    hooks.register(on::<Claimed>().handler(sync_option))?;
    hooks.register(on::<Claimed>().handler(async_option))?;
    let claim = hooks.fire_claiming::<Claimed>(&ClaimedPayload { n: 7 }).await?;
    assert_eq!(claim, Claim::Claimed(7));
    Ok(())
}
