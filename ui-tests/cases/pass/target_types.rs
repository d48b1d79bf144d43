// Binds handlers to types.
use hooks_runtime::{
    BeforeExecute, FlowContext, HookRegistry, handlers, hook_handler, hook_points,
};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

struct Search;
struct Index<K, V>(std::marker::PhantomData<(K, V)>);

#[hook_handler(BeforeExecute<Call>, target = Search)]
fn cached(flow: &mut FlowContext<Call>) {
    flow.respond(7);
}

#[hook_handler(BeforeExecute<Call>, target = Index<u32, Vec<u8>>, priority = 1)]
fn indexed(_: &mut FlowContext<Call>) {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![cached, indexed])?;
    let run = hooks.flow::<Call>().target::<Search>();
    let output = run.run(CallPayload { n: 1 }, async |call: CallPayload| Ok::<_, String>(call.n));
    assert_eq!(output.await?, 7);
    Ok(())
}
