// Every stage of a flow, annotated and plain, and ways to run it.
use hooks_runtime::{
    AfterExecute, AfterValidation, BeforeExecute, BeforeValidation, Finally, FlowContext,
    HookContext, HookRegistry, OnError, handlers, hook_handler, hook_points, on,
};

hook_points! {
    #[hook(name = "calls:call", timeout = "5s")]
    pub flow Call { n: u32 } -> u32;
}

#[hook_handler(BeforeValidation<Call>)]
fn before_validation(_: &mut FlowContext<Call>) {}

#[hook_handler(AfterValidation<Call>)]
fn after_validation(_: &mut FlowContext<Call>, _: &HookContext) -> Result<(), String> {
    Ok(())
}

#[hook_handler(BeforeExecute<Call>, target = "search")]
async fn before_execute(flow: &mut FlowContext<Call>) {
    flow.respond(7);
}

#[hook_handler(AfterExecute<Call>)]
async fn after_execute(_: &mut FlowContext<Call>, _: &HookContext) {}

#[hook_handler(OnError<Call>)]
async fn on_error(_: &mut FlowContext<Call>) -> Result<(), String> {
    Ok(())
}

#[hook_handler(Finally<Call>)]
fn finally(flow: &mut FlowContext<Call>) {
    assert!(flow.output().is_some());
}

#[hook_handler(Finally<Call>)]
fn only_looks(_: &FlowContext<Call>) {}

async fn execute(call: CallPayload) -> Result<u32, std::io::Error> {
    Ok(call.n)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![
        before_validation,
        after_validation,
        before_execute,
        after_execute,
        on_error,
        finally,
        only_looks,
    ])?;
    hooks.register_stage::<BeforeExecute<Call>>(before_execute)?;
    hooks.register_stage::<Finally<Call>>(async |_: &mut FlowContext<Call>| {})?;
    hooks.register(on::<Finally<Call>>().handler(finally))?;
    let output = hooks.run_flow::<Call, _>(CallPayload { n: 1 }, execute).await?;
    assert_eq!(output, 7);
    let run = hooks.flow::<Call>().validate(|call: &CallPayload| match call.n {
        0 => Err("zero"),
        _ => Ok(()),
    });
    let closure = async |call: CallPayload| Ok::<_, std::io::Error>(call.n);
    run.target_named("search").run(CallPayload { n: 1 }, closure).await?;
    Ok(())
}
