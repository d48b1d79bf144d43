//! Lists a directory.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};

/// Lists a directory of the sandbox, by name.
#[derive(Clone, Copy, Debug)]
pub struct ListDirectory;

impl Tool for ListDirectory {
    fn definition(&self) -> ToolDefinition {
        definition("list_directory", "Lists a directory.", &[("path", "The directory.")])
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(list(args, cx).await) })
    }
}

async fn list(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let path = cx.agent.sandbox.resolve(text_argument(args, "path")?)?;
    let mut directory =
        tokio::fs::read_dir(path).await.map_err(|error| execution_failed(&error))?;
    let mut names = Vec::new();
    while let Some(entry) =
        directory.next_entry().await.map_err(|error| execution_failed(&error))?
    {
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(ToolResult::success(names.join("\n")))
}
