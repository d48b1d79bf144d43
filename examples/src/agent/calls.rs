//! The tool calls of a round: all asked about in order, then run side by side.

use std::time::Instant;

use futures::future::join_all;
use hooks_points::{
    AfterToolCall, AfterToolCallPayload, BeforeToolCall, BeforeToolCallPayload, Personality,
    RejectionReason, StoredToolCall, ToolDefinition, ToolEndWithPath, ToolEndWithPathPayload,
    ToolErrorCode, ToolResult,
};
use hooks_runtime::FireError;
use serde_json::Value;

use super::call_flow::call_tool;
use super::history::Message;
use super::rounds::milliseconds;
use super::tools::ToolContext;
use super::trace::Event;
use super::{Agent, AgentError, Session, Turn};

/// What became of a call.
#[derive(Debug)]
pub(crate) struct CallEnd {
    pub(crate) tool: String,
    pub(crate) args: Value,
    pub(crate) ok: bool,
}

/// A call that the plugins have seen.
struct Checked {
    call: StoredToolCall,
    /// `Some` puts it on the rejected list: it is not run.
    rejected: Option<RejectionReason>,
}

/// The result of a call, and whether all plugins could be notified of it.
type Run = (ToolResult, Result<(), FireError>);

impl Agent {
    /// Runs the calls that the plugins let through, and records a result for
    /// every one. A call that was rejected gets an error, because a use of a
    /// tool without an answer would break the conversation.
    pub(crate) async fn run_calls(
        &self,
        turn: &Turn,
        session: &mut Session,
        calls: Vec<StoredToolCall>,
    ) -> Result<Vec<CallEnd>, AgentError> {
        let mut checked = Vec::with_capacity(calls.len());
        for call in &calls {
            match check(turn, session, call.clone()).await {
                Ok(seen) => checked.push(seen),
                Err(error) => {
                    let none = |call| (call, rejection(&error.to_string()));
                    self.record_results(session, calls.into_iter().map(none));
                    return Err(error.into());
                }
            }
        }

        let branches: Vec<_> = checked.iter().map(|_| turn.branch()).collect();
        let here = &*session;
        let running =
            checked.iter().zip(&branches).map(async |(checked, branch)| match &checked.rejected {
                Some(reason) => (rejection(reason.as_str()), Ok(())),
                None => self.run_call(branch, here, &checked.call).await,
            });
        let (results, notified): (Vec<_>, Vec<_>) = join_all(running).await.into_iter().unzip();
        for branch in &branches {
            turn.join(branch);
        }

        let answered = checked.into_iter().map(|checked| checked.call).zip(results);
        let ends = self.record_results(session, answered);
        notified.into_iter().collect::<Result<(), _>>()?;
        Ok(ends)
    }

    /// Runs one call and notifies the plugins.
    async fn run_call(&self, turn: &Turn, session: &Session, call: &StoredToolCall) -> Run {
        let StoredToolCall { name, input, .. } = call;
        let began = Instant::now();
        let allowed = allows(&session.personality, name);
        let tool = self.tools.iter().find(|tool| allowed && tool.definition().name == *name);
        let result = match tool {
            Some(tool) => {
                let cx = ToolContext { agent: self, turn, session };
                call_tool(&**tool, call, &cx).await
            }
            None => ToolResult::failure(
                ToolErrorCode::NotAvailable,
                format!("there is no tool `{name}` here: use one that is on offer"),
            ),
        };
        let (tool, args) = (name.clone(), input.clone());
        turn.happened(Event::Ran { tool, args, result: result.clone() });
        let notified = self.notify_end(turn, session, call, &result, milliseconds(began)).await;
        (result, notified)
    }

    async fn notify_end(
        &self,
        turn: &Turn,
        session: &Session,
        call: &StoredToolCall,
        result: &ToolResult,
        duration_ms: u64,
    ) -> Result<(), FireError> {
        let after = AfterToolCallPayload {
            session_id: session.id.clone(),
            tool_name: call.name.clone(),
            result: result.clone(),
            duration_ms,
        };
        turn.notify::<AfterToolCall>(&call.name, &after).await?;
        let Some(path) = call.input.get("path").and_then(Value::as_str) else { return Ok(()) };
        let with_path = ToolEndWithPathPayload {
            session_id: session.id.clone(),
            personality_id: Some(session.personality.id.clone()),
            tool_name: call.name.clone(),
            file_path: path.to_owned(),
            working_dir: self.sandbox.root().display().to_string(),
        };
        turn.notify::<ToolEndWithPath>(path, &with_path).await
    }

    /// Puts the results into the history, in the order of the calls.
    fn record_results(
        &self,
        session: &mut Session,
        answered: impl Iterator<Item = (StoredToolCall, ToolResult)>,
    ) -> Vec<CallEnd> {
        let mut ends = Vec::new();
        for (StoredToolCall { id, name, input }, result) in answered {
            let is_error = !result.is_success();
            let text = match result {
                ToolResult::Success { value, .. } => value,
                ToolResult::Failure { error, .. } => error,
            };
            let tool = name.clone();
            self.record(session, Message::ToolResult { call_id: id, tool, text, is_error });
            ends.push(CallEnd { tool: name, args: input, ok: !is_error });
        }
        ends
    }

    /// The tools that are described to the model.
    pub(crate) fn offered(&self, personality: &Personality) -> Vec<ToolDefinition> {
        let all = self.tools.iter().map(|tool| tool.definition());
        all.filter(|tool| allows(personality, &tool.name)).collect()
    }
}

/// Asks the plugins about one call, before anything runs.
async fn check(
    turn: &Turn,
    session: &Session,
    mut call: StoredToolCall,
) -> Result<Checked, FireError> {
    let payload = BeforeToolCallPayload {
        session_id: session.id.clone(),
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        args: call.input.clone(),
    };
    let amended = turn.amend::<BeforeToolCall>(&call.name, &payload).await?;
    if let Some(args) = amended.args {
        call.input = args;
    }
    if let Some(reason) = &amended.error {
        turn.refused(&call.name, reason.as_str());
    }
    Ok(Checked { call, rejected: amended.error })
}

fn allows(personality: &Personality, tool: &str) -> bool {
    personality.toolset.as_ref().is_none_or(|tools| tools.iter().any(|name| name == tool))
}

fn rejection(reason: &str) -> ToolResult {
    ToolResult::failure(ToolErrorCode::NotAvailable, reason)
}
