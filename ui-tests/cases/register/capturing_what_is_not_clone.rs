// Captures what cannot be cloned for each call.
use std::sync::Mutex;

use hooks_runtime::{HookRegistry, capturing, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let last = Mutex::new(String::new());
    hooks.register_void::<SessionStart>(capturing(async move |start: &SessionStartPayload| {
        *last.lock().unwrap() = start.session_id.clone();
    }))?;
    Ok(())
}
