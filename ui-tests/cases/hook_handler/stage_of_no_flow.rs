// Names a stage of a point that is not a flow.
use hooks_runtime::{BeforeExecute, FlowContext, hook_handler, hook_points};

hook_points! {
    pub flow Call { n: u32 } -> u32;
    pub void SessionStart { session_id: String }
}

#[hook_handler(BeforeExecute<SessionStart>)]
fn cached(_: &mut FlowContext<Call>) {}

fn main() {}
