//! The points of `hooks_points::agent`.

use hooks_points::{
    AfterToolCall, AfterToolCallPayload, AgentDone, AgentDonePayload, BeforeGoalComplete,
    BeforeGoalCompletePayload, BeforeToolCall, BeforeToolCallPayload, BeforeToolCallResult,
    CompletionRejected, RejectionReason, SessionStart, SessionStartPayload, SubagentEnded,
    SubagentEndedPayload, ToolResult,
};
use hooks_runtime::BoxError;
use serde_json::Value;

use super::{AmendPoint, Amendment, CommandPoint, StopPoint};
use crate::facts::{EventKind, Facts, ToolFacts};

impl CommandPoint for BeforeToolCall {
    const KIND: EventKind = EventKind::BeforeTool;

    fn facts(call: &BeforeToolCallPayload) -> Facts {
        let mut tool = ToolFacts::new(&*call.tool_name, call.args.clone());
        tool.id = Some(call.tool_call_id.clone());
        Facts { session_id: Some(call.session_id.clone()), tool: Some(tool), ..Facts::default() }
    }
}

impl AmendPoint for BeforeToolCall {
    fn amended(
        _: &BeforeToolCallPayload,
        said: Amendment,
    ) -> Result<Option<BeforeToolCallResult>, BoxError> {
        let error = said.rejected.map(RejectionReason::new).transpose()?;
        Ok(Some(BeforeToolCallResult { args: said.input, error }))
    }

    fn facts_after(call: &BeforeToolCallPayload, merged: &BeforeToolCallResult) -> Option<Facts> {
        if merged.error.is_some() {
            return None;
        }
        let mut facts = Self::facts(call);
        if let (Some(tool), Some(args)) = (&mut facts.tool, &merged.args) {
            tool.input = args.clone();
        }
        Some(facts)
    }
}

impl CommandPoint for AfterToolCall {
    const KIND: EventKind = EventKind::AfterTool;

    fn facts(call: &AfterToolCallPayload) -> Facts {
        let response = match &call.result {
            ToolResult::Success { structured: Some(value), .. } => value.clone(),
            ToolResult::Success { value, .. } => Value::String(value.clone()),
            ToolResult::Failure { error, .. } => Value::String(error.clone()),
        };
        let tool = ToolFacts {
            response: Some(response),
            failed: !call.result.is_success(),
            duration_ms: Some(call.duration_ms),
            ..ToolFacts::new(&*call.tool_name, Value::Object(serde_json::Map::new()))
        };
        Facts { session_id: Some(call.session_id.clone()), tool: Some(tool), ..Facts::default() }
    }
}

impl CommandPoint for SessionStart {
    const KIND: EventKind = EventKind::SessionStart;

    fn facts(session: &SessionStartPayload) -> Facts {
        Facts {
            session_id: Some(session.session_id.clone()),
            source: Some("startup".into()),
            ..Facts::default()
        }
    }
}

impl CommandPoint for AgentDone {
    const KIND: EventKind = EventKind::Stop;

    fn facts(done: &AgentDonePayload) -> Facts {
        Facts {
            session_id: Some(done.session_id.clone()),
            prompt: done.initial_prompt.clone(),
            last_message: Some(done.text.clone()),
            ..Facts::default()
        }
    }
}

impl CommandPoint for BeforeGoalComplete {
    const KIND: EventKind = EventKind::Stop;

    fn facts(goal: &BeforeGoalCompletePayload) -> Facts {
        Facts {
            session_id: Some(goal.goal_id.clone()),
            last_message: Some(goal.summary.clone()),
            ..Facts::default()
        }
    }
}

impl StopPoint for BeforeGoalComplete {
    fn go_on(reason: String) -> Result<CompletionRejected, BoxError> {
        Ok(CompletionRejected::new(reason)?)
    }
}

impl CommandPoint for SubagentEnded {
    const KIND: EventKind = EventKind::SubagentStop;

    fn facts(ended: &SubagentEndedPayload) -> Facts {
        Facts {
            session_id: Some(ended.child_session_id.clone()),
            last_message: Some(ended.result.clone()),
            ..Facts::default()
        }
    }
}
