// A plugin with state, whose methods handle points of every model.
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hooks_runtime::{
    BeforeExecute, FlowContext, HookContext, HookRegistry, Verdict, hook_handlers, hook_points,
};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

#[derive(Default)]
struct Audit {
    calls: AtomicU32,
}

struct Search;

#[hook_handlers(plugin = "audit")]
impl Audit {
    const LIMIT: u32 = 3;

    #[hook_handler(Told, on_failure = "closed")]
    async fn told(&self, told: &ToldPayload) -> Result<(), String> {
        self.count(told.n);
        Ok(())
    }

    /// Methods keep their comments and attributes.
    #[inline]
    #[hook_handler(Amended, priority = 3)]
    fn amended(&self, _: &AmendedPayload, _: &HookContext) -> AmendedResult {
        AmendedResult { text: Some(Self::LIMIT.to_string()) }
    }

    #[hook_handler(Claimed)]
    async fn claimed(&self, _: &ClaimedPayload, _: &HookContext) -> Option<u32> {
        None
    }

    #[hook_handler(Gated, guard)]
    fn gated(&self, _: &GatedPayload) -> Verdict {
        Verdict::Pass
    }

    #[hook_handler(Gated)]
    fn rewrites(&self, _: &GatedPayload) -> Verdict<GatedPayload> {
        Verdict::Pass
    }

    #[hook_handler(BeforeExecute<Call>, target = Search)]
    async fn cached(&self, flow: &mut FlowContext<Call>) {
        flow.respond(7);
    }

    fn count(&self, n: u32) {
        self.calls.fetch_add(n, Ordering::Relaxed);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    let state = Arc::new(Audit::default());
    let audit = hooks.install(Arc::clone(&state))?;
    hooks.fire_void::<Told>(&ToldPayload { n: 2 }).await?;
    assert_eq!(state.calls.load(Ordering::Relaxed), 2);
    let amended = hooks.fire_modifying::<Amended>(&AmendedPayload { n: 1 }).await?;
    assert_eq!(amended.text.as_deref(), Some("3"));
    audit.uninstall().await;
    Ok(())
}
