// Shares a state that is not `Sync`.
use std::cell::Cell;

use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void SessionStart { session_id: String }
}

struct Counter(Cell<u32>);

async fn count(counter: &Counter, _: &SessionStartPayload) {
    counter.0.set(counter.0.get() + 1);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<SessionStart, _>(Counter(Cell::new(0)), count)?;
    Ok(())
}
