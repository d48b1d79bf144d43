// Calls `fire_gating` for points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub flow Run { n: u32 } -> u32;
}

fn fire(hooks: &HookRegistry, flow: FlowContext<Run>) {
    let _ = hooks.fire_gating::<Told>(ToldPayload { n: 1 });
    let _ = hooks.fire_gating::<Amended>(AmendedPayload { n: 1 });
    let _ = hooks.fire_gating::<Claimed>(ClaimedPayload { n: 1 });
    let _ = hooks.fire_gating::<Run>(RunPayload { n: 1 });
    let _ = hooks.fire_gating::<BeforeExecute<Run>>(flow);
}

fn main() {}
