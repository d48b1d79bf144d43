//! Reads a file.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};

/// Reads a text file of the sandbox.
#[derive(Clone, Copy, Debug)]
pub struct ReadFile;

impl Tool for ReadFile {
    fn definition(&self) -> ToolDefinition {
        definition("read_file", "Reads a text file.", &[("path", "The file.")])
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(read(args, cx).await) })
    }
}

async fn read(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let path = cx.agent.sandbox.resolve(text_argument(args, "path")?)?;
    let text = tokio::fs::read_to_string(path).await.map_err(|error| execution_failed(&error))?;
    Ok(ToolResult::success(text))
}
