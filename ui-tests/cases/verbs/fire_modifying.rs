// Calls `fire_modifying` for points of every other model.
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

fn fire(hooks: &HookRegistry, flow: &FlowContext<Run>) {
    let _ = hooks.fire_modifying::<Told>(&ToldPayload { n: 1 });
    let _ = hooks.fire_modifying::<Claimed>(&ClaimedPayload { n: 1 });
    let _ = hooks.fire_modifying::<Gated>(&GatedPayload { n: 1 });
    let _ = hooks.fire_modifying::<Run>(&RunPayload { n: 1 });
    let _ = hooks.fire_modifying::<BeforeExecute<Run>>(flow);
}

fn main() {}
