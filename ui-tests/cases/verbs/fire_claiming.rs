// Calls `fire_claiming` for points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn fire(hooks: &HookRegistry, flow: &FlowContext<Run>) {
    let _ = hooks.fire_claiming::<Told>(&ToldPayload { n: 1 });
    let _ = hooks.fire_claiming::<Amended>(&AmendedPayload { n: 1 });
    let _ = hooks.fire_claiming::<Gated>(&GatedPayload { n: 1 });
    let _ = hooks.fire_claiming::<Run>(&RunPayload { n: 1 });
    let _ = hooks.fire_claiming::<BeforeExecute<Run>>(flow);
}

fn main() {}
