// Makes a mistake in each of three points: all are reported, and only those.
use hooks_runtime::{HookRegistry, hook_handler, hook_points};

hook_points! {
    pub viod SessionStart { session_id: String }

    #[hook(timeout = 5)]
    pub gating BeforeSend { text: String }

    pub modifying BeforePrompt { session_id: String }

    pub void SessionEnd { session_id: String }
}

#[hook_handler(SessionStart)]
fn log(_: &SessionStartPayload) {}

async fn fire(hooks: &HookRegistry) {
    let end = SessionEndPayload { session_id: String::new() };
    let _ = hooks.fire_void::<SessionEnd>(&end).await;
}

fn main() {}
