//! Asks a person.

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolResult};
use serde_json::Value;

use super::{Tool, ToolContext, definition, either, text_argument};

/// Asks a person. The work on a goal waits for the answer.
#[derive(Clone, Copy, Debug)]
pub struct AskPerson;

impl Tool for AskPerson {
    fn definition(&self) -> ToolDefinition {
        definition("ask_person", "Asks a person.", &[("question", "What has to be known.")])
    }

    fn run<'a>(&'a self, args: &'a Value, _: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult> {
        let asked = text_argument(args, "question");
        Box::pin(async move { either(asked.map(|_| ToolResult::success("the question is asked"))) })
    }
}
