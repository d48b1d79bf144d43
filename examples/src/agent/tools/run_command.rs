//! Runs a command and waits for it.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};

/// Runs a command in the sandbox and waits for its end.
#[derive(Clone, Copy, Debug)]
pub struct RunCommand;

impl Tool for RunCommand {
    fn definition(&self) -> ToolDefinition {
        let command = ("command", "A program and its arguments; there is no shell.");
        definition("run_command", "Runs a command and waits for it.", &[command])
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(run(args, cx).await) })
    }
}

async fn run(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let mut command = cx.agent.sandbox.command(text_argument(args, "command")?)?;
    let output = command.output().await.map_err(|error| execution_failed(&error))?;
    if output.status.success() {
        Ok(ToolResult::success(String::from_utf8_lossy(&output.stdout)))
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(execution_failed(&format_args!("{}: {said}", output.status)))
    }
}
