//! Counts tokens and tool calls, session by session.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use hooks_points::{AfterLlmCall, AfterLlmCallPayload, AfterToolCall, AfterToolCallPayload};
use hooks_runtime::hook_handlers;

/// What a session has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Round trips to the model.
    pub round_trips: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// Tool calls that ran.
    pub tool_calls: u64,
}

/// Counts what sessions use.
#[derive(Debug, Default)]
pub struct UsageMeter(Mutex<BTreeMap<String, Usage>>);

#[hook_handlers(plugin = "usage-meter")]
impl UsageMeter {
    #[hook_handler(AfterLlmCall)]
    fn tokens(&self, call: &AfterLlmCallPayload) {
        self.add(&call.session_id, |used| {
            used.round_trips += 1;
            used.input_tokens += call.usage.input_tokens;
            used.output_tokens += call.usage.output_tokens;
        });
    }

    #[hook_handler(AfterToolCall)]
    fn tools(&self, call: &AfterToolCallPayload) {
        self.add(&call.session_id, |used| used.tool_calls += 1);
    }
}

impl UsageMeter {
    /// What all sessions together have used.
    pub fn total(&self) -> Usage {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().fold(Usage::default(), |sum, used| Usage {
            round_trips: sum.round_trips + used.round_trips,
            input_tokens: sum.input_tokens + used.input_tokens,
            output_tokens: sum.output_tokens + used.output_tokens,
            tool_calls: sum.tool_calls + used.tool_calls,
        })
    }

    fn add(&self, session: &str, count: impl FnOnce(&mut Usage)) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        count(sessions.entry(session.to_owned()).or_default());
    }
}
