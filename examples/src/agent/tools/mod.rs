//! What the model may call: one file a tool.

mod ask_person;
mod complete_ticket;
mod list_directory;
mod read_file;
mod run_command;
mod spawn_subagent;
mod start_process;
mod unload_plugin;

use std::fmt;

use futures::future::BoxFuture;
use hooks_points::{ToolDefinition, ToolErrorCode, ToolResult};
use serde_json::{Map, Value, json};

use super::{Agent, Session, Turn};

pub use ask_person::AskPerson;
pub use complete_ticket::CompleteTicket;
pub use list_directory::ListDirectory;
pub use read_file::ReadFile;
pub use run_command::RunCommand;
pub use spawn_subagent::SpawnSubagent;
pub use start_process::StartProcess;
pub use unload_plugin::UnloadPlugin;

/// Something the model may call.
pub trait Tool: fmt::Debug + Send + Sync {
    /// The tool as it is described to the model.
    fn definition(&self) -> ToolDefinition;

    /// Does the work. The calls of a round run side by side.
    fn run<'a>(&'a self, args: &'a Value, cx: &'a ToolContext<'a>) -> BoxFuture<'a, ToolResult>;
}

/// What a tool works with.
#[derive(Debug)]
pub struct ToolContext<'a> {
    /// The agent that runs it.
    pub agent: &'a Agent,
    /// The turn that it runs in.
    pub turn: &'a Turn,
    /// The session of that turn.
    pub session: &'a Session,
}

/// A tool whose arguments are texts, each with a name and what it is for.
pub fn definition(name: &str, description: &str, arguments: &[(&str, &str)]) -> ToolDefinition {
    let properties: Map<_, _> = arguments
        .iter()
        .map(|(name, meaning)| {
            ((*name).to_owned(), json!({ "type": "string", "description": meaning }))
        })
        .collect();
    let required: Vec<_> = arguments.iter().map(|(name, _)| *name).collect();
    let parameters = Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(required)),
    ]);
    ToolDefinition { name: name.to_owned(), description: description.to_owned(), parameters }
}

/// An argument that has to be a text.
pub fn text_argument<'a>(args: &'a Value, name: &str) -> Result<&'a str, ToolResult> {
    args.get(name).and_then(Value::as_str).ok_or_else(|| {
        let error = format!("`{name}` is missing: give it as a text");
        ToolResult::failure(ToolErrorCode::InputInvalid, error)
    })
}

/// A tool that tried and failed.
fn execution_failed(error: &impl fmt::Display) -> ToolResult {
    ToolResult::failure(ToolErrorCode::ExecutionFailed, error.to_string())
}

/// Lets tools end early with `?`.
fn either(result: Result<ToolResult, ToolResult>) -> ToolResult {
    result.unwrap_or_else(|failure| failure)
}
