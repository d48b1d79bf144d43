// Calls `fire_void` for points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn fire(hooks: &HookRegistry, flow: &FlowContext<Run>) {
    let _ = hooks.fire_void::<Amended>(&AmendedPayload { n: 1 });
    let _ = hooks.fire_void::<Claimed>(&ClaimedPayload { n: 1 });
    let _ = hooks.fire_void::<Gated>(&GatedPayload { n: 1 });
    let _ = hooks.fire_void::<Run>(&RunPayload { n: 1 });
    let _ = hooks.fire_void::<BeforeExecute<Run>>(flow);
}

fn main() {}
