// Calls the lazy forms of `fire_*` for points of another model.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
}

fn main() {
    let hooks = HookRegistry::new();
    let _ = hooks.fire_void_with::<Claimed>(|| ClaimedPayload { n: 1 });
    let _ = hooks.fire_modifying_with::<Told>(|| ToldPayload { n: 1 });
    let _ = hooks.fire_claiming_with::<Amended>(|| AmendedPayload { n: 1 });
}
