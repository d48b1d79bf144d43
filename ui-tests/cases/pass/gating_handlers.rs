// Every form of a rewriter and of a guard, annotated and plain.
use hooks_runtime::{
    Gate, HookContext, HookRegistry, Verdict, handlers, hook_handler, hook_points, on,
};

hook_points! {
    #[payload(derive(PartialEq))]
    pub gating Gated { n: u32 }
}

#[hook_handler(Gated)]
fn rewrites(_: &GatedPayload) -> Verdict<GatedPayload> {
    Verdict::Replace(GatedPayload { n: 2 })
}

#[hook_handler(Gated)]
async fn rewrites_later(_: &GatedPayload) -> Result<Verdict<GatedPayload>, String> {
    Ok(Verdict::Pass)
}

#[hook_handler(Gated, guard)]
fn guards(_: &GatedPayload, _: &HookContext) -> Verdict {
    Verdict::Pass
}

#[hook_handler(Gated, guard)]
async fn guards_later(gated: &GatedPayload) -> Result<Verdict, String> {
    Ok(if gated.n == 3 { Verdict::reject("three") } else { Verdict::Pass })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![rewrites, rewrites_later, guards, guards_later])?;
    hooks.register_gating::<Gated>(rewrites_later)?;
    hooks.register_gating::<Gated>(async |_: &GatedPayload| Verdict::Pass)?;
    hooks.register_guard::<Gated>(guards_later)?;
    hooks.register_guard::<Gated>(async |_: &GatedPayload| Verdict::Pass)?;
    hooks.register(on::<Gated>().handler(rewrites))?;
    hooks.register(on::<Gated>().guard(guards))?;
    hooks.register(on::<Gated>().guard(|_: &GatedPayload| Verdict::Pass))?;
    match hooks.fire_gating::<Gated>(GatedPayload { n: 1 }).await? {
        Gate::Passed(gated) => assert_eq!(gated, GatedPayload { n: 2 }),
        Gate::Rejected(rejection) => panic!("{rejection}"),
    }
    Ok(())
}
