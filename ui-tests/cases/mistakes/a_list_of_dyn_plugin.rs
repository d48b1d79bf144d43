use hooks_runtime::{HookRegistry, Plugin, RegisterError, hook_handlers, hook_points};

hook_points! {
    /// A page was saved.
    pub void Saved { page: u32 }
}

struct Audit;

#[hook_handlers(plugin = "audit")]
impl Audit {
    #[hook_handler(Saved)]
    fn saved(&self, _: &SavedPayload) {}
}

fn main() -> Result<(), RegisterError> {
    let plugins: Vec<Box<dyn Plugin>> = vec![Box::new(Audit)];
    HookRegistry::new().install_all(plugins)?;
    Ok(())
}
