//! One call of a tool, as the flow that others may answer, time or stop.

use std::convert::Infallible;

use hooks_points::mcp::{CallTool, CallToolRequest, CallToolResponse, ContentBlock};
use hooks_points::{StoredToolCall, ToolErrorCode, ToolResult};
use serde_json::{Map, Value};

use super::tools::{Tool, ToolContext};

/// Where the code of a failure is in what is attached to an answer.
const CODE: &str = "code";

/// Runs a tool, unless a handler answers in its place.
pub(super) async fn call_tool(
    tool: &dyn Tool,
    call: &StoredToolCall,
    cx: &ToolContext<'_>,
) -> ToolResult {
    let request = CallToolRequest {
        name: call.name.clone(),
        arguments: call.input.as_object().cloned(),
        meta: None,
    };
    let operation = async |request: CallToolRequest| {
        let args = Value::Object(request.arguments.unwrap_or_default());
        Ok::<_, Infallible>(response(tool.run(&args, cx).await))
    };
    match cx.turn.run::<CallTool, _>(&call.name, request, operation).await {
        Ok(response) => result(&response),
        Err(error) => ToolResult::failure(ToolErrorCode::ExecutionFailed, error.to_string()),
    }
}

/// What a tool came back with, as the flow has it.
fn response(result: ToolResult) -> CallToolResponse {
    match result {
        ToolResult::Success { value, structured, .. } => {
            let structured_content = structured.and_then(|data| data.as_object().cloned());
            CallToolResponse { structured_content, ..CallToolResponse::text(value) }
        }
        ToolResult::Failure { code, error } => {
            let code = serde_json::to_value(code).unwrap_or_default();
            let meta = Some(Map::from_iter([(CODE.to_owned(), code)]));
            CallToolResponse { meta, ..CallToolResponse::error(error) }
        }
    }
}

/// The other way. Of the content, the model reads the text.
fn result(response: &CallToolResponse) -> ToolResult {
    let texts = response.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    if response.is_error == Some(true) {
        let code = response.meta.as_ref().and_then(|meta| meta.get(CODE).cloned());
        let code = code.and_then(|code| serde_json::from_value(code).ok());
        return ToolResult::failure(code.unwrap_or(ToolErrorCode::ExecutionFailed), text);
    }
    let structured = response.structured_content.clone().map(Value::Object);
    ToolResult::Success { value: text, structured, cost_usd: None }
}
