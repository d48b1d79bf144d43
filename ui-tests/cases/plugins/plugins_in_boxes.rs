// Installs plugins in boxes of their own type, and a plugin whose type is forgotten in
// an `Arc`.
use std::sync::Arc;

use hooks_runtime::{AnyPlugin, HookRegistry, hook_handlers, hook_points};

hook_points! {
    pub void Saved { page: u32 }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.install(Box::new(Audit))?;
    hooks.install_all(vec![Box::new(Audit)])?;
    let shared: Arc<dyn AnyPlugin> = Arc::new(Audit);
    hooks.install(shared)?;
    Ok(())
}
