// Names a reason that has no text, and handles and fires its point.
use hooks_runtime::{Gate, HookRegistry, Judgement, Verdict, hook_handler, hook_points, on};

pub struct Denied;

hook_points! {
    pub gating Authorize { path: String } -> Denied;
}

#[hook_handler(Authorize, guard)]
fn admins_only(_: &AuthorizePayload) -> Judgement<Denied> {
    Judgement::Reject(Denied)
}

async fn fire(hooks: &HookRegistry, request: AuthorizePayload) {
    let passes = on::<Authorize>().handler(|_: &AuthorizePayload| Verdict::Pass);
    let _ = hooks.register(passes);
    if let Ok(Gate::Rejected(rejection)) = hooks.fire_gating::<Authorize>(request).await {
        let Denied = rejection.into_reason();
    }
}

fn main() {}
