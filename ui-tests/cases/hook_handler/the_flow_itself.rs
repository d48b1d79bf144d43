// Handles a flow instead of one of its stages.
use hooks_runtime::{hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
}

#[hook_handler(Call)]
fn cached(_: &CallPayload) {}

fn main() {}
