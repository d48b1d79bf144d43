// Registers, fires and handles a point whose result is not merged, in every way: one
// error, at the declaration.
use std::error::Error;

use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_handlers, hook_points, on};

#[derive(Default)]
pub struct Amendment {
    pub prefix: Option<String>,
}

hook_points! {
    pub modifying BeforePrompt { session_id: String } -> Amendment;
}

#[hook_handler(BeforePrompt)]
fn today(_: &BeforePromptPayload) -> Amendment {
    Amendment::default()
}

#[hook_handler(BeforePrompt)]
async fn tomorrow(_: &BeforePromptPayload) -> Option<Amendment> {
    None
}

struct Calendar;

#[hook_handlers(plugin = "calendar")]
impl Calendar {
    #[hook_handler(BeforePrompt)]
    fn holidays(&self, _: &BeforePromptPayload) -> Result<Amendment, String> {
        Ok(Amendment::default())
    }
}

fn register(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.register(handlers![today, tomorrow])?;
    hooks.install(Calendar)?;
    hooks.register_modifying::<BeforePrompt>(async |_: &BeforePromptPayload| None)?;
    hooks.register_modifying_with::<BeforePrompt, _>(1, async |_, _| Amendment::default())?;
    hooks.register(on::<BeforePrompt>().handler(|_: &BeforePromptPayload| Amendment::default()))?;
    Ok(())
}

async fn fire(hooks: &HookRegistry, prompt: &BeforePromptPayload) -> Result<(), Box<dyn Error>> {
    let amended = hooks.fire_modifying::<BeforePrompt>(prompt).await?;
    println!("{:?}", amended.prefix);
    let (amended, report) = hooks.fire_modifying_reported::<BeforePrompt>(prompt).await;
    println!("{:?} {report}", amended?.prefix);
    let made = || BeforePromptPayload { session_id: String::new() };
    let amended = hooks.fire_modifying_with::<BeforePrompt>(made).await?;
    println!("{:?}", amended.prefix);
    Ok(())
}

fn main() {}
