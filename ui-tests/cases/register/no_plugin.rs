// Installs a value whose type is not a plugin.
use hooks_runtime::HookRegistry;

struct Audit;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let _audit = hooks.install(Audit)?;
    Ok(())
}
