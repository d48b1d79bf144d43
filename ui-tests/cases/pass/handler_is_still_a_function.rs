// An annotated function can be called, and has its type beside it.
use hooks_runtime::{HookRegistry, handlers, hook_handler, hook_points};

hook_points! {
    pub claiming Route(String) -> u32;
}

#[hook_handler(Route)]
fn desk(message: &String) -> Option<u32> {
    message.parse().ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    assert_eq!(desk(&String::from("7")), Some(7));
    let hooks = HookRegistry::new();
    let handles = hooks.register(handlers![desk])?;
    assert_eq!(handles.unregister().removed(), 1);
    let handle = hooks.register_claiming::<Route>(async |message: &String| desk(message))?;
    assert_eq!(handle.unregister().removed(), 1);
    Ok(())
}
