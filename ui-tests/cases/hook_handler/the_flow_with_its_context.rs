// The flow where one of its stages belongs.
use hooks_runtime::{FlowContext, hook_handler, hook_points};

hook_points! {
    /// One delivery, stage by stage.
    pub flow Deliver(String) -> String;
}

#[hook_handler(Deliver)]
fn stamp(flow: &mut FlowContext<Deliver>) {
    flow.skip();
}

fn main() {}
