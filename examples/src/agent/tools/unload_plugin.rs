//! Unloads a plugin while the agent is at work.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolErrorCode, ToolResult};
use hooks_runtime::PluginId;
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};

/// Unloads a plugin: it is gone at one instant, also from turns under way.
#[derive(Clone, Copy, Debug)]
pub struct UnloadPlugin;

impl Tool for UnloadPlugin {
    fn definition(&self) -> ToolDefinition {
        definition("unload_plugin", "Unloads a plugin.", &[("plugin", "The plugin's id.")])
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(unload(args, cx).await) })
    }
}

async fn unload(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let id = PluginId::new(text_argument(args, "plugin")?)
        .map_err(|error| ToolResult::failure(ToolErrorCode::InputInvalid, error.to_string()))?;
    // Nothing of the plugin may run any more when the model reads the result.
    let outcome = cx.agent.hooks.unregister_plugin(&id).await;
    let removed = outcome.removed();
    outcome.into_result().map_err(|error| execution_failed(&error))?;
    cx.turn.note(format!("plugin {id} unloaded, {removed} handlers gone"));
    Ok(ToolResult::success(format!("{id} is unloaded")))
}
