// Takes the context of another flow.
use hooks_runtime::{BeforeExecute, FlowContext, hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
    pub flow Read { path: String } -> String;
}

#[hook_handler(BeforeExecute<Call>)]
async fn cached(_: &mut FlowContext<Read>) {}

fn main() {}
