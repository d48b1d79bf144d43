// Fires in spawned tasks: the futures are `Send`.
use hooks_runtime::{HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Call { n: u32 } -> u32;
}

fn sent<F: Future + Send + 'static>(_: F) {}

fn main() {
    let hooks = HookRegistry::new();
    sent(async move {
        let _ = hooks.fire_void::<Told>(&ToldPayload { n: 1 }).await;
        let _ = hooks.fire_modifying::<Amended>(&AmendedPayload { n: 1 }).await;
        let _ = hooks.fire_claiming::<Claimed>(&ClaimedPayload { n: 1 }).await;
        let _ = hooks.fire_gating::<Gated>(GatedPayload { n: 1 }).await;
        let operation = async |call: CallPayload| Ok::<_, String>(call.n);
        let _ = hooks.run_flow::<Call, _>(CallPayload { n: 1 }, operation).await;
    });
}
