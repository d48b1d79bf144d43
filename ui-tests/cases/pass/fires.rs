// Every way to fire, from a registry and from a scope.
use hooks_runtime::{Claim, FireError, Gate, HookRegistry, Plugins, hook_points};

hook_points! {
    pub void Told { n: u32 }
    pub modifying Amended { n: u32 } -> { text: String }
    pub claiming Claimed { n: u32 } -> u32;
    pub gating Gated { n: u32 }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), FireError> {
    let hooks = HookRegistry::new();
    let turn = hooks.scope(Plugins::only(["audit", "calendar"])).scope(Plugins::BuiltIn);
    turn.fire_void::<Told>(&ToldPayload { n: 1 }).await?;
    hooks.fire_void_with::<Told>(|| unreachable!("no handlers")).await?;
    let (outcome, _) = hooks.fire_void_reported::<Told>(&ToldPayload { n: 1 }).await;
    outcome?;

    let amended = turn.fire_modifying::<Amended>(&AmendedPayload { n: 1 }).await?;
    assert!(amended.text.is_none());
    hooks.fire_modifying_with::<Amended>(|| unreachable!("no handlers")).await?;
    let (outcome, _) = hooks.fire_modifying_reported::<Amended>(&AmendedPayload { n: 1 }).await;
    outcome?;

    match turn.fire_claiming::<Claimed>(&ClaimedPayload { n: 1 }).await? {
        Claim::Claimed(desk) => panic!("{desk}"),
        Claim::Unclaimed => {}
    }
    let claim = hooks.fire_claiming_with::<Claimed>(|| unreachable!("no handlers")).await?;
    assert!(!claim.is_claimed());
    let (outcome, _) = hooks.fire_claiming_reported::<Claimed>(&ClaimedPayload { n: 1 }).await;
    assert_eq!(outcome?.claimed(), None);

    match turn.fire_gating::<Gated>(GatedPayload { n: 1 }).await? {
        Gate::Passed(gated) => assert_eq!(gated.n, 1),
        Gate::Rejected(rejection) => panic!("{}", rejection.reason()),
    }
    let (outcome, _) = hooks.fire_gating_reported::<Gated>(GatedPayload { n: 1 }).await;
    assert!(matches!(outcome?, Gate::Passed(_)));
    Ok(())
}
