// Takes the flow's input by shared reference instead of its context.
use hooks_runtime::{BeforeExecute, hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[hook_handler(BeforeExecute<Call>)]
fn cached(_: &CallPayload) {}

fn main() {}
