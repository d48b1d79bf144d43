//! Tool calls.

use serde_json::Value;

use crate::types::{RejectionReason, ToolResult};

hooks_runtime::hook_points! {
    #![hook(json = "camelCase", catalogue = pub(super) fn points)]
    #![cfg_attr(feature = "schema", hook(schema))]

    /// Fires before a tool call runs, for each call the model asked for. A
    /// handler can change the arguments or reject the call.
    ///
    /// The rejection is the host's to enforce: a call whose merged result has
    /// an `error` is not executed, and an error result is recorded in its place.
    #[payload(derive(PartialEq))]
    #[result(derive(PartialEq))]
    pub modifying BeforeToolCall {
        /// The session.
        session_id: String,
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// The arguments the model gave.
        args: Value,
    } -> {
        /// The arguments to use instead.
        args: Value,
        /// Why the call must not run.
        error: RejectionReason,
    }

    /// Fires after a tool came back, whether or not it did its work.
    #[payload(derive(PartialEq))]
    pub void AfterToolCall {
        /// The session.
        session_id: String,
        /// The tool.
        tool_name: String,
        /// What it came back with.
        result: ToolResult,
        /// How long it took, in milliseconds.
        duration_ms: u64,
    }

    /// Fires after a tool call whose arguments named a path in the file system.
    #[payload(derive(PartialEq))]
    pub void ToolEndWithPath {
        /// The session.
        session_id: String,
        /// The active personality.
        personality_id: Option<String>,
        /// The tool.
        tool_name: String,
        /// The path, which may be relative to `working_dir`.
        file_path: String,
        /// Where the agent was working when the tool ran.
        working_dir: String,
    }
}
