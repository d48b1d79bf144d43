// What the documentation of the points in `src/sample.rs` shows, word for word.
#![allow(unused_variables)]
use hooks_runtime::{BeforeExecute, FlowContext, HookRegistry, Verdict};
use hooks_ui_tests::sample::*;

async fn examples(hooks: &HookRegistry) -> Result<(), Box<dyn std::error::Error>> {
    {
        let payload = SessionStartPayload { session_id: "s-1".into() };
        hooks.register_void::<SessionStart>(async |payload: &SessionStartPayload| { /* … */ })?;
        hooks.fire_void::<SessionStart>(&payload).await?;
    }
    {
        let payload = BeforePromptPayload { session_id: "s-1".into() };
        hooks.register_modifying::<BeforePrompt>(async |payload: &BeforePromptPayload| BeforePromptResult::default())?;
        let amended = hooks.fire_modifying::<BeforePrompt>(&payload).await?;
    }
    {
        let payload = String::from("hello");
        hooks.register_claiming::<Route>(async |payload: &String| None)?;
        let claim = hooks.fire_claiming::<Route>(&payload).await?;
    }
    {
        let payload = String::from("hello");
        hooks.register_gating::<Sending>(async |payload: &String| Verdict::Pass)?;
        let gate = hooks.fire_gating::<Sending>(payload).await?;
    }
    {
        let input = String::from("search");
        let operation = async |input: String| Ok::<_, std::io::Error>(1);
        hooks.register_stage::<BeforeExecute<CallTool>>(async |flow: &mut FlowContext<CallTool>| { /* … */ })?;
        let output = hooks.flow::<CallTool>().run(input, operation).await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    examples(&HookRegistry::new()).await
}
