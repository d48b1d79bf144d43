// Forgets to await a fire.
#![deny(unused_must_use)]
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart(String);
}

fn main() {
    let hooks = HookRegistry::new();
    hooks.fire_void::<SessionStart>(&String::new());
}
