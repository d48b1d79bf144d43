//! Hands a task to a subagent.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};

/// Hands a task to a subagent and waits for its answer.
#[derive(Clone, Copy, Debug)]
pub struct SpawnSubagent;

impl Tool for SpawnSubagent {
    fn definition(&self) -> ToolDefinition {
        let arguments = [("prompt", "The task."), ("personality", "Who is to do it.")];
        definition("spawn_subagent", "Hands a task to a subagent.", &arguments)
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(spawn(args, cx).await) })
    }
}

async fn spawn(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let prompt = text_argument(args, "prompt")?;
    let personality = args.get("personality").and_then(Value::as_str);
    let spawned = cx.agent.spawn(cx.turn, &cx.session.id, prompt, personality).await;
    spawned.map(ToolResult::success).map_err(|error| execution_failed(&error))
}
