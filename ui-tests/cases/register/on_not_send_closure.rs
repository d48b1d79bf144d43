// Completes `on` with async closures whose futures hold what is not `Send`: each error
// names that value.
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use hooks_runtime::{HookContext, HookRegistry, Judgement, capturing, hook_points, on};

hook_points! {
    pub void SessionStart { session_id: String }
    pub gating Sending(String);
}

fn closure(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.register(on::<SessionStart>().handler(async |start: &SessionStartPayload| {
        let size = Rc::new(start.session_id.len());
        tokio::task::yield_now().await;
        drop(size);
    }))?;
    Ok(())
}

fn with_context(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.register(on::<SessionStart>().handler(
        async |start: &SessionStartPayload, _: &HookContext| {
            let size = Rc::new(start.session_id.len());
            tokio::task::yield_now().await;
            drop(size);
        },
    ))?;
    Ok(())
}

fn with_a_state(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.register(on::<SessionStart>().handler_with(
        Mutex::new(1),
        async |count: &Mutex<u32>, _: &SessionStartPayload| {
            let mut locked = count.lock().unwrap();
            tokio::task::yield_now().await;
            *locked += 1;
        },
    ))?;
    Ok(())
}

fn that_captures(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    let count = Arc::new(Mutex::new(1));
    hooks.register(on::<SessionStart>().handler(capturing(
        async move |_: &SessionStartPayload| {
            let mut locked = count.lock().unwrap();
            tokio::task::yield_now().await;
            *locked += 1;
        },
    )))?;
    Ok(())
}

fn guard(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.register(on::<Sending>().guard(async |text: &String| {
        let size = Rc::new(text.len());
        tokio::task::yield_now().await;
        drop(size);
        Judgement::Pass
    }))?;
    Ok(())
}

fn main() {}
