//! Starts a command and leaves it running.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, text_argument};

/// Starts a command in the sandbox and leaves it running.
#[derive(Clone, Copy, Debug)]
pub struct StartProcess;

impl Tool for StartProcess {
    fn definition(&self) -> ToolDefinition {
        let command = ("command", "A program and its arguments; there is no shell.");
        definition("start_process", "Starts a command in the background.", &[command])
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(start(args, cx)) })
    }
}

fn start(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let line = text_argument(args, "command")?;
    let command = cx.agent.sandbox.command(line)?;
    let id = cx.agent.leave_running(cx.turn, cx.session, line, command);
    Ok(ToolResult::success(format!("started as {id}")))
}
