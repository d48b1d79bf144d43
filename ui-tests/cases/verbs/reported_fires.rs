// Calls the reported forms of `fire_*` for points of another model.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub gating Gated { n: u32 }
    pub claiming Claimed { n: u32 } -> u32;
}

fn main() {
    let hooks = HookRegistry::new();
    let _ = hooks.fire_void_reported::<Gated>(&GatedPayload { n: 1 });
    let _ = hooks.fire_claiming_reported::<Told>(&ToldPayload { n: 1 });
    let _ = hooks.fire_gating_reported::<Claimed>(ClaimedPayload { n: 1 });
}
