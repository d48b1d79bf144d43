//! The gating points of `hooks_points::lifecycle`.

use hooks_points::lifecycle::{
    BeforeInbound, BeforeInboundPayload, BeforeToolCall, BeforeToolCallPayload, OnSessionEnd,
    OnSessionEndPayload,
};
use hooks_runtime::BoxError;
use serde_json::Value;

use super::{CommandPoint, GatePoint};
use crate::facts::{EventKind, Facts, ToolFacts};

impl CommandPoint for BeforeToolCall {
    const KIND: EventKind = EventKind::BeforeTool;

    fn facts(call: &BeforeToolCallPayload) -> Facts {
        let tool = ToolFacts::new(&*call.tool_name, call.parameters.clone());
        Facts { tool: Some(tool), ..Facts::default() }
    }
}

impl GatePoint for BeforeToolCall {
    fn rewritten(
        call: &BeforeToolCallPayload,
        input: Value,
    ) -> Result<BeforeToolCallPayload, BoxError> {
        Ok(call.with_parameters(input))
    }

    fn reason(text: String) -> String {
        text
    }
}

impl CommandPoint for BeforeInbound {
    const KIND: EventKind = EventKind::Prompt;

    fn facts(message: &BeforeInboundPayload) -> Facts {
        Facts {
            session_id: message.thread_id.clone(),
            prompt: Some(message.content.clone()),
            ..Facts::default()
        }
    }
}

impl GatePoint for BeforeInbound {
    fn rewritten(
        message: &BeforeInboundPayload,
        input: Value,
    ) -> Result<BeforeInboundPayload, BoxError> {
        let content = input.as_str().ok_or("a prompt is rewritten with text")?.to_owned();
        Ok(BeforeInboundPayload { content, ..message.clone() })
    }

    /// Behind the message, as Gemini CLI does it.
    fn with_context(message: &BeforeInboundPayload, context: &str) -> Option<BeforeInboundPayload> {
        let both = format!("{}\n\n{context}", message.content);
        Some(BeforeInboundPayload { content: both, ..message.clone() })
    }

    fn reason(text: String) -> String {
        text
    }
}

impl CommandPoint for OnSessionEnd {
    const KIND: EventKind = EventKind::SessionEnd;

    fn facts(session: &OnSessionEndPayload) -> Facts {
        Facts { session_id: Some(session.session_id.clone()), ..Facts::default() }
    }
}

impl GatePoint for OnSessionEnd {
    fn rewritten(_: &OnSessionEndPayload, _: Value) -> Result<OnSessionEndPayload, BoxError> {
        Err("the end of a session cannot be rewritten".into())
    }

    fn reason(text: String) -> String {
        text
    }
}
