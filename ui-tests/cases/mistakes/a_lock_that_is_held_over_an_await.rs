use std::sync::Mutex;

use hooks_runtime::{HookRegistry, RegisterError, hook_points, on};

hook_points! {
    /// A session begins.
    pub void SessionStart { session_id: String }
}

async fn record(seen: &Mutex<Vec<String>>, start: &SessionStartPayload) {
    let mut seen = seen.lock().unwrap();
    tokio::task::yield_now().await;
    seen.push(start.session_id.clone());
}

fn main() -> Result<(), RegisterError> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().handler_with(Mutex::new(Vec::new()), record))?;
    Ok(())
}
