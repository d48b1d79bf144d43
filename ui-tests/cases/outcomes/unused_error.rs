// Drops the error of a fire.
#![deny(unused_must_use)]
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart(String);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    hooks.fire_void::<SessionStart>(&String::new()).await;
}
