// Binds a handler to a type that does not exist.
use hooks_runtime::{BeforeExecute, FlowContext, hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[hook_handler(BeforeExecute<Call>, target = Serach)]
fn cached(_: &mut FlowContext<Call>) {}

fn main() {}
