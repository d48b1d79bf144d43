//! Calls a ticket complete.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolErrorCode, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, execution_failed, text_argument};
use crate::agent::tickets::Completion;

/// Calls a ticket complete; the plugins may turn that down.
#[derive(Clone, Copy, Debug)]
pub struct CompleteTicket;

impl Tool for CompleteTicket {
    fn definition(&self) -> ToolDefinition {
        let arguments = [("ticket", "The ticket's id."), ("summary", "What was done.")];
        definition("complete_ticket", "Calls a ticket complete.", &arguments)
    }

    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        Box::pin(async move { either(complete(args, cx).await) })
    }
}

async fn complete(args: &Value, cx: &ToolContext<'_>) -> Result<ToolResult, ToolResult> {
    let (id, summary) = (text_argument(args, "ticket")?, text_argument(args, "summary")?);
    let completion = cx.agent.complete_ticket(cx.turn, id, summary).await;
    match completion.map_err(|error| execution_failed(&error))? {
        Completion::Done => Ok(ToolResult::success(format!("{id} is done"))),
        Completion::NeedsRevision(reason) => {
            Err(execution_failed(&format_args!("{id} needs revision: {reason}")))
        }
        Completion::NoSuchTicket => {
            let error = format!("there is no ticket `{id}`: give the id of one on the board");
            Err(ToolResult::failure(ToolErrorCode::InputInvalid, error))
        }
    }
}
