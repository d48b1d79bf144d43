// Captures state in an async closure.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let count = Arc::new(AtomicUsize::new(0));
    hooks.register_void::<SessionStart>(async move |_: &SessionStartPayload| {
        count.fetch_add(1, Ordering::Relaxed);
    })?;
    Ok(())
}
