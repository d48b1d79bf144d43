// Registers synchronous closures, which may capture.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::{HookContext, HookRegistry, hook_points, on};

hook_points! {
    pub void Told { n: u32 }
    pub claiming Claimed { n: u32 } -> u32;
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    hooks.register(on::<Told>().name("count").handler(move |told: &ToldPayload| {
        counted.fetch_add(told.n, Ordering::Relaxed);
    }))?;
    hooks.register(
        on::<Claimed>().handler(|claim: &ClaimedPayload, _: &HookContext| Some(claim.n)),
    )?;
    hooks.fire_void::<Told>(&ToldPayload { n: 3 }).await?;
    assert_eq!(count.load(Ordering::Relaxed), 3);
    Ok(())
}
