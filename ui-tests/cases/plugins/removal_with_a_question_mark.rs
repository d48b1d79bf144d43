// Writes `?` behind an awaited removal: `.await.into_result()?` is the form for it.
use hooks_runtime::HookRegistry;

async fn leave(hooks: &HookRegistry) -> Result<(), Box<dyn std::error::Error>> {
    hooks.unregister_plugin("audit").await?;
    Ok(())
}

fn main() {}
