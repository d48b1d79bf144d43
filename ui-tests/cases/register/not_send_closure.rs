// Holds an `Rc` across an await in a closure.
use std::rc::Rc;

use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void::<SessionStart>(async |start: &SessionStartPayload| {
        let count = Rc::new(start.session_id.len());
        tokio::task::yield_now().await;
        drop(count);
    })?;
    Ok(())
}
