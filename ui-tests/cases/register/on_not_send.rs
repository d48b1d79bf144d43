// Completes `on` with an async function whose future is not `Send`.
use std::rc::Rc;

use hooks_runtime::{HookRegistry, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
}

async fn log(start: &SessionStartPayload) {
    let count = Rc::new(start.session_id.len());
    tokio::task::yield_now().await;
    drop(count);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(on::<SessionStart>().name("log").handler(log))?;
    Ok(())
}
