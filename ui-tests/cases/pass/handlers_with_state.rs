// Gives handlers a state.
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Verdict, hook_points, on,
};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

struct Counter(AtomicU32);

async fn count(counter: &Counter, told: &ToldPayload) {
    counter.0.fetch_add(told.n, Ordering::Relaxed);
}

fn count_now(counter: &Counter, told: &ToldPayload, _: &HookContext) {
    counter.0.fetch_add(told.n, Ordering::Relaxed);
}

async fn within(quota: &usize, gated: &GatedPayload) -> Verdict {
    if gated.n as usize <= *quota { Verdict::Pass } else { Verdict::reject("too much") }
}

fn within_now(quota: &usize, gated: &GatedPayload, _: &HookContext) -> Result<Verdict, String> {
    if *quota == 0 { Err("no quota".into()) } else { Ok(Verdict::reject(gated.n.to_string())) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register_void_with::<Told, _>(Counter(AtomicU32::new(0)), count)?;
    hooks.register_modifying_with::<Amended, _>(1, async |_: &i32, _: &AmendedPayload| None)?;
    hooks.register_claiming_with::<Claimed, _>(1, async |_: &i32, _: &ClaimedPayload| None)?;
    hooks.register_gating_with::<Gated, _>(1, async |_: &i32, _: &GatedPayload| Verdict::Pass)?;
    hooks.register_guard_with::<Gated, _>(1, within)?;
    hooks.register_guard_with::<Gated, _>(1, async |_: &i32, _: &GatedPayload| Verdict::Pass)?;
    hooks.register_stage_with::<BeforeExecute<Call>, _>(
        1,
        async |_: &i32, _: &mut FlowContext<Call>| {},
    )?;
    // The verbs take one form only, so the types of a closure are inferred.
    hooks.register_void_with::<Told, _>(Counter(AtomicU32::new(0)), async |counter, told| {
        counter.0.fetch_add(told.n, Ordering::Relaxed);
    })?;
    hooks.register_modifying_with::<Amended, _>(7, async |times, amended| AmendedResult {
        text: Some(amended.n.to_string().repeat(*times)),
    })?;
    hooks.register_claiming_with::<Claimed, _>(7, async |n, claimed| {
        if claimed.n == *n { Ok(Some(1)) } else { Err(claimed.n.to_string()) }
    })?;
    hooks.register_gating_with::<Gated, _>(7, async |quota, gated| {
        if gated.n > *quota { Verdict::Replace(GatedPayload { n: *quota }) } else { Verdict::Pass }
    })?;
    hooks.register_guard_with::<Gated, _>(7, async |quota, gated| {
        if gated.n > *quota { Verdict::reject("too much") } else { Verdict::Pass }
    })?;
    hooks.register_stage_with::<BeforeExecute<Call>, _>(7, async |answer, flow| {
        flow.respond(*answer);
    })?;
    hooks.register(on::<Told>().handler_with(Counter(AtomicU32::new(0)), count_now))?;
    hooks.register(on::<Gated>().guard_with(1, within))?;
    hooks.register(on::<Gated>().guard_with(1, within_now))?;
    hooks.register(on::<Gated>().guard_with(1, |_: &i32, _: &GatedPayload| Verdict::Pass))?;
    hooks.register(on::<Gated>().guard_with(1, async |_: &i32, _: &GatedPayload| Verdict::Pass))?;
    hooks.fire_void::<Told>(&ToldPayload { n: 1 }).await?;
    Ok(())
}
