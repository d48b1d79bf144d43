// Misspells the model.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub viod SessionStart { session_id: String }
    pub observing SessionEnd { session_id: String }
}

async fn fire(hooks: &HookRegistry) {
    // The point exists all the same, so this adds no error.
    let start = SessionStartPayload { session_id: String::new() };
    let _ = hooks.fire_void::<SessionStart>(&start).await;
}

fn main() {}
