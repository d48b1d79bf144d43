// Every form of a handler of a modifying point, annotated and plain.
use hooks_runtime::{HookContext, HookRegistry, handlers, hook_handler, hook_points, on};

hook_points! {
    pub modifying Amended { n: u32 } -> { text: String }
}

#[hook_handler(Amended)]
fn sync_value(_: &AmendedPayload) -> AmendedResult {
    AmendedResult::default()
}

#[hook_handler(Amended)]
fn sync_option(_: &AmendedPayload) -> Option<AmendedResult> {
    None
}

#[hook_handler(Amended)]
fn sync_result(_: &AmendedPayload, _: &HookContext) -> Result<AmendedResult, String> {
    Ok(AmendedResult::default())
}

#[hook_handler(Amended)]
fn sync_result_option(_: &AmendedPayload) -> Result<Option<AmendedResult>, String> {
    Ok(None)
}

#[hook_handler(Amended)]
async fn async_value(_: &AmendedPayload) -> AmendedResult {
    AmendedResult::default()
}

#[hook_handler(Amended)]
async fn async_option(_: &AmendedPayload, cx: &HookContext) -> Option<AmendedResult> {
    cx.merged::<Amended>().cloned()
}

#[hook_handler(Amended)]
async fn async_result(_: &AmendedPayload) -> Result<AmendedResult, String> {
    Ok(AmendedResult::default())
}

#[hook_handler(Amended)]
async fn async_result_option(_: &AmendedPayload) -> Result<Option<AmendedResult>, String> {
    Ok(None)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![
        sync_value,
        sync_option,
        sync_result,
        sync_result_option,
        async_value,
        async_option,
        async_result,
        async_result_option,
    ])?;
    hooks.register_modifying::<Amended>(async_value)?;
    hooks.register_modifying::<Amended>(async_result)?;
    hooks.register_modifying::<Amended>(async_result_option)?;
    hooks.register_modifying::<Amended>(async |_: &AmendedPayload| None)?;
    hooks.register(on::<Amended>().handler(sync_value))?;
    hooks.register(on::<Amended>().handler(sync_option))?;
    hooks.register(on::<Amended>().handler(async_option))?;
    let amended: AmendedResult = hooks.fire_modifying::<Amended>(&AmendedPayload { n: 1 }).await?;
    assert_eq!(amended.text, None);
    Ok(())
}
