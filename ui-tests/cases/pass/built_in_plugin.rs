// A block without a plugin id, of a type with written-out generics, in a module.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
}

mod audit {
    pub struct Log<W>(pub W);
}

use audit::Log;

#[hooks_runtime::hook_handlers]
impl Log<Vec<u8>> {
    #[hook_handler(Told)]
    fn first(&self, _: &ToldPayload) {}

    #[hooks_runtime::hook_handler(crate::Told, name = "other")]
    fn second(&self, _: &crate::ToldPayload) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let log = hooks.install(Log(Vec::new()))?;
    assert_eq!((log.id(), log.handles().len()), (None, 2));
    Ok(())
}
