// Takes the outcome of a removal for a `Result`, which `into_result` makes of it.
use hooks_runtime::HookRegistry;

async fn leave(hooks: &HookRegistry) -> Result<(), Box<dyn std::error::Error>> {
    hooks.unregister_plugin("audit").await?;
    if let Err(error) = hooks.unregister_plugin("backup").await {
        println!("{error}");
    }
    Ok(())
}

fn main() {}
