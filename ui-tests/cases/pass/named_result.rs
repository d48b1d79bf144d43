// A named result gets its merge from the derive.
use hooks_runtime::{HookRegistry, Merge, hook_points};

#[derive(Debug, Default, PartialEq, Merge)]
pub struct Amendment {
    pub prefix: Option<String>,
    pub suffix: Option<String>,
}

hook_points! {
    pub modifying BeforePrompt(String) -> Amendment;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_modifying::<BeforePrompt>(async |prompt: &String| Amendment {
        prefix: Some(prompt.clone()),
        ..Default::default()
    })?;
    let amended = hooks.fire_modifying::<BeforePrompt>(&String::from("hi")).await?;
    assert_eq!(amended, Amendment { prefix: Some("hi".into()), suffix: None });
    Ok(())
}
