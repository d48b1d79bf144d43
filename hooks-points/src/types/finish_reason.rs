//! Why a model stopped.

use serde::{Deserialize, Serialize};

/// Why the model stopped writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It had nothing more to say.
    EndTurn,
    /// It asked for a tool.
    ToolUse,
    /// It reached the limit of its answer.
    MaxTokens,
    /// It wrote a stop sequence.
    StopSequence,
    /// The round trip failed.
    Error,
}
