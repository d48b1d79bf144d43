// Fires with the verb of another model, with the argument as the point's own verb takes
// it: one error for each fire, at its verb, awaited or not.
use std::error::Error;

use hooks_runtime::{Claim, Gate, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

/// `fire_gating` and a run take the payload, the others a reference to it.
async fn by_value(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    let gated = GatedPayload { n: 1 };
    hooks.fire_void::<Gated>(gated).await?;
    let amended = hooks.fire_modifying::<Gated>(GatedPayload { n: 1 }).await?;
    println!("{:?}", amended.text);
    if let Claim::Claimed(desk) = hooks.fire_claiming::<Gated>(GatedPayload { n: 1 }).await? {
        println!("{}", desk + 1);
    }
    hooks.fire_void::<Run>(RunPayload { n: 1 }).await?;
    let (told, report) = hooks.fire_void_reported::<Gated>(GatedPayload { n: 1 }).await;
    told?;
    println!("{report}");
    let (amended, report) = hooks.fire_modifying_reported::<Gated>(GatedPayload { n: 1 }).await;
    println!("{:?} {report}", amended?.text);
    let (claim, report) = hooks.fire_claiming_reported::<Gated>(GatedPayload { n: 1 }).await;
    println!("{:?} {report}", claim?.claimed());
    Ok(())
}

async fn by_reference(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    let told = ToldPayload { n: 1 };
    match hooks.fire_gating::<Told>(&told).await? {
        Gate::Passed(told) => println!("{}", told.n),
        Gate::Rejected(rejection) => println!("{}", rejection.reason()),
    }
    let (gate, report) = hooks.fire_gating_reported::<Claimed>(&ClaimedPayload { n: 1 }).await;
    println!("{} {report}", matches!(gate?, Gate::Passed(_)));
    let ran = hooks.run_flow::<Told, _>(&told, async |it| Ok::<_, String>(it.n)).await?;
    println!("{}", ran + 1);
    let ran = hooks.flow::<Told>().run(&told, async |it| Ok::<_, String>(it.n)).await?;
    println!("{}", ran + 1);
    hooks.spawn_void::<Amended>(&AmendedPayload { n: 1 }).await?;
    hooks.try_spawn_void::<Claimed>(&ClaimedPayload { n: 1 })?.await?;
    Ok(())
}

fn not_awaited(hooks: &HookRegistry) {
    let _ = hooks.fire_void::<Gated>(GatedPayload { n: 1 });
    let _ = hooks.fire_modifying::<Gated>(GatedPayload { n: 1 });
    let _ = hooks.fire_claiming::<Run>(RunPayload { n: 1 });
    let _ = hooks.fire_gating::<Told>(&ToldPayload { n: 1 });
    let _ = hooks.fire_gating_reported::<Amended>(&AmendedPayload { n: 1 });
    let _ = hooks.run_flow::<Claimed, _>(&ClaimedPayload { n: 1 }, async |it| Ok::<_, String>(it.n));
    let _ = hooks.spawn_void::<Amended>(&AmendedPayload { n: 1 });
}

fn main() {}
