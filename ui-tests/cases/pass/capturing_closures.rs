// Registers async closures that capture: each call gets a clone.
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Verdict, capturing, hook_points, on,
};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

type Boxed<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let count = Arc::new(AtomicU32::new(0));
    let text = String::from("text");

    let counted = Arc::clone(&count);
    hooks.register_void::<Told>(capturing(async move |told: &ToldPayload| {
        tokio::task::yield_now().await;
        counted.fetch_add(told.n, Ordering::Relaxed);
    }))?;
    let counted = Arc::clone(&count);
    hooks.register(on::<Told>().handler(capturing(
        async move |told: &ToldPayload, cx: &HookContext| {
            tokio::task::yield_now().await;
            counted.fetch_add(told.n, Ordering::Relaxed);
            assert_eq!(cx.point(), "told");
        },
    )))?;
    // What was captured may also be moved out: it is the clone's.
    hooks.register_modifying::<Amended>(capturing(async move |_: &AmendedPayload| {
        AmendedResult { text: Some(text) }
    }))?;
    let n = Box::new(1);
    hooks.register_claiming::<Claimed>(capturing(async move |_: &ClaimedPayload| Some(*n)))?;
    let limit = Arc::new(7);
    let guarded = Arc::clone(&limit);
    hooks.register_guard::<Gated>(capturing(async move |gated: &GatedPayload| {
        if gated.n > *guarded { Verdict::reject("too much") } else { Verdict::Pass }
    }))?;
    hooks.register(on::<Gated>().guard(capturing(
        async move |gated: &GatedPayload, _: &HookContext| {
            if gated.n > *limit { Verdict::reject("too much") } else { Verdict::Pass }
        },
    )))?;
    let answer = Arc::new(3);
    hooks.register_stage::<BeforeExecute<Call>>(capturing(
        async move |flow: &mut FlowContext<Call>| {
            flow.respond(*answer);
        },
    ))?;

    // What does not borrow across an `.await` may be an async block, and what does, boxed.
    let counted = Arc::clone(&count);
    hooks.register(on::<Told>().handler(move |told: &ToldPayload| {
        let (counted, n) = (Arc::clone(&counted), told.n);
        async move {
            counted.fetch_add(n, Ordering::Relaxed);
        }
    }))?;
    let counted = Arc::clone(&count);
    let boxed: Box<dyn for<'a> Fn(&'a ToldPayload) -> Boxed<'a> + Send + Sync> =
        Box::new(move |told| {
            let counted = Arc::clone(&counted);
            Box::pin(async move {
                counted.fetch_add(told.n, Ordering::Relaxed);
            })
        });
    hooks.register_void::<Told>(boxed)?;

    hooks.fire_void::<Told>(&ToldPayload { n: 1 }).await?;
    assert_eq!(count.load(Ordering::Relaxed), 4);
    let amended = hooks.fire_modifying::<Amended>(&AmendedPayload { n: 1 }).await?;
    assert_eq!(amended.text.as_deref(), Some("text"));
    Ok(())
}
