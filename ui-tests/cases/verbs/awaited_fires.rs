// Fires with the verb of another model, awaits it and uses what comes of it: one
// error for each fire, at its verb.
use std::error::Error;

use hooks_runtime::{Claim, Gate, HookRegistry, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
    pub flow Run { n: u32 } -> u32;
}

async fn void(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    hooks.fire_void::<Gated>(&GatedPayload { n: 1 }).await?;
    hooks.fire_void::<Run>(&RunPayload { n: 1 }).await?;
    hooks.fire_void_with::<Amended>(|| AmendedPayload { n: 1 }).await?;
    let (told, report) = hooks.fire_void_reported::<Claimed>(&ClaimedPayload { n: 1 }).await;
    told?;
    println!("{report}");
    Ok(())
}

async fn modifying(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    let amended = hooks.fire_modifying::<Claimed>(&ClaimedPayload { n: 1 }).await?;
    println!("{:?}", amended.text);
    let amended = hooks.fire_modifying_with::<Told>(|| ToldPayload { n: 1 }).await?;
    println!("{:?}", amended.text);
    let (amended, report) = hooks.fire_modifying_reported::<Told>(&ToldPayload { n: 1 }).await;
    println!("{:?} {report}", amended?.text);
    Ok(())
}

async fn claiming(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    if let Claim::Claimed(desk) = hooks.fire_claiming::<Amended>(&AmendedPayload { n: 1 }).await? {
        println!("{}", desk + 1);
    }
    let claim = hooks.fire_claiming_with::<Told>(|| ToldPayload { n: 1 }).await?;
    println!("{}", claim.claimed().unwrap_or(1));
    let (claim, report) = hooks.fire_claiming_reported::<Told>(&ToldPayload { n: 1 }).await;
    println!("{:?} {report}", claim?.claimed());
    Ok(())
}

async fn gating(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    match hooks.fire_gating::<Told>(ToldPayload { n: 1 }).await? {
        Gate::Passed(told) => println!("{}", told.n),
        Gate::Rejected(rejection) => println!("{}", rejection.reason()),
    }
    let gate = hooks.fire_gating_with::<Told>(|| ToldPayload { n: 1 }).await?;
    println!("{}", gate.is_some());
    let (gate, report) = hooks.fire_gating_reported::<Amended>(AmendedPayload { n: 1 }).await;
    println!("{} {report}", matches!(gate?, Gate::Passed(_)));
    Ok(())
}

async fn flow(hooks: &HookRegistry) -> Result<(), Box<dyn Error>> {
    let claimed = ClaimedPayload { n: 1 };
    let ran = hooks.run_flow::<Claimed, _>(claimed, async |it| Ok::<_, String>(it.n)).await?;
    println!("{}", ran + 1);
    let told = ToldPayload { n: 1 };
    let ran = hooks.flow::<Told>().run(told, async |it| Ok::<_, String>(it.n)).await?;
    println!("{}", ran + 1);
    Ok(())
}

fn main() {}
