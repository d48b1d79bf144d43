use hooks_runtime::{
    Claim, Gate, HookContext, HookRegistry, Plugins, Verdict, handlers, hook_handler, hook_points,
    on,
};

#[derive(Debug, Clone)]
pub struct Msg {
    pub platform: String,
}
#[derive(Debug, Clone, PartialEq)]
pub struct Id(u32);

hook_points! {
    /// First turn.
    pub void SessionStart { session_id: String, platform: String }
    /// Prompt.
    pub modifying BeforePromptBuild { session_id: String } -> { prepend_system: String, append_system: String }
    /// Which?
    pub claiming InboundClaim(Msg) -> Id;
    /// Gate.
    #[hook(timeout = "5s")]
    pub gating BeforeToolRun(Msg);
}

#[hook_handler(SessionStart)]
async fn log_session(start: &SessionStartPayload) {
    let _ = &start.session_id;
}

#[hook_handler(BeforePromptBuild, plugin = "calendar", priority = -10, timeout = "200ms")]
fn today(_: &BeforePromptBuildPayload) -> BeforePromptBuildResult {
    BeforePromptBuildResult { prepend_system: Some("today".into()), ..Default::default() }
}

#[hook_handler(InboundClaim, after = "spam_filter")]
async fn telegram(message: &Msg, cx: &HookContext) -> Result<Option<Id>, std::io::Error> {
    assert_eq!(cx.handler(), "telegram");
    tokio::task::yield_now().await;
    Ok((message.platform == "telegram").then_some(Id(1)))
}

#[tokio::test]
async fn all() -> Result<(), Box<dyn std::error::Error>> {
    let hooks = HookRegistry::new();
    hooks.register(handlers![log_session, today, telegram])?;
    hooks.register_void::<SessionStart>(log_session)?;
    let handle = hooks
        .register_modifying::<BeforePromptBuild>(async |_p: &BeforePromptBuildPayload| None)?;
    handle.unregister();
    let p = SessionStartPayload { session_id: "s".into(), platform: "x".into() };
    hooks.fire_void::<SessionStart>(&p).await?;
    let amended: BeforePromptBuildResult = hooks
        .fire_modifying::<BeforePromptBuild>(&BeforePromptBuildPayload { session_id: "a".into() })
        .await?;
    assert_eq!(amended.prepend_system.as_deref(), Some("today"));
    match hooks.fire_claiming::<InboundClaim>(&Msg { platform: "telegram".into() }).await? {
        Claim::Claimed(id) => assert_eq!(id, Id(1)),
        Claim::Unclaimed => panic!(),
    }
    hooks.register(on::<BeforeToolRun>().guard(|m: &Msg| {
        if m.platform == "bad" { Verdict::reject("no") } else { Verdict::Pass }
    }))?;
    hooks.register(on::<BeforeToolRun>().handler(async |m: &Msg| -> Verdict<Msg> {
        Verdict::Replace(Msg { platform: format!("{}d", m.platform) })
    }))?;
    match hooks.fire_gating::<BeforeToolRun>(Msg { platform: "ba".into() }).await? {
        Gate::Passed(_) => panic!(),
        Gate::Rejected(r) => assert_eq!(r.reason(), "no"),
    }
    let turn = hooks.scope(Plugins::only(["audit"]));
    assert!(
        turn.fire_modifying::<BeforePromptBuild>(&BeforePromptBuildPayload {
            session_id: "a".into()
        })
        .await?
        .prepend_system
        .is_none()
    );
    hooks
        .fire_void_with::<SessionStart>(|| SessionStartPayload {
            session_id: "s".into(),
            platform: "x".into(),
        })
        .await?;
    let (_, report) =
        hooks.fire_gating_reported::<BeforeToolRun>(Msg { platform: "ba".into() }).await;
    println!("{report}");
    Ok(())
}
