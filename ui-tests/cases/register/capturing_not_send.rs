// Captures, and keeps what is not `Send` while it waits.
use std::rc::Rc;
use std::sync::Arc;

use hooks_runtime::{HookRegistry, capturing, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let prefix: Arc<str> = "session".into();
    hooks.register_void::<SessionStart>(capturing(async move |start: &SessionStartPayload| {
        let id = Rc::new(start.session_id.clone());
        tokio::task::yield_now().await;
        println!("{prefix} {id}");
    }))?;
    Ok(())
}
