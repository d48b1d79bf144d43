// Takes a flow's context by shared reference, then wants to change it.
use hooks_runtime::{BeforeExecute, FlowContext, hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[hook_handler(BeforeExecute<Call>)]
fn cached(flow: &FlowContext<Call>) {
    flow.respond(1);
}

fn main() {}
