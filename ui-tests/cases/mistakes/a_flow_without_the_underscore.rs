use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    /// One look-up, stage by stage.
    pub flow Lookup(String) -> String;
}

async fn find(key: String) -> Result<String, std::io::Error> {
    Ok(key)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let hooks = HookRegistry::new();
    let _ = hooks.run_flow::<Lookup>("lamp".to_owned(), find).await;
}
