//! Work that goes on beside the conversation.

use serde::{Deserialize, Serialize};

/// A background job that has come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackgroundJob {
    /// The job's id.
    pub id: String,
    /// How it ended.
    pub status: JobStatus,
    /// What it did, in short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The conversation that started it, when one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<JobOrigin>,
}

/// How a background job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// It finished its work.
    Done,
    /// It met an error.
    Failed,
    /// It was stopped, by a person or by a limit.
    Aborted,
}

/// Where the news of a job's end belongs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JobOrigin {
    /// The chat platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The bot, where a platform has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bot_key: Option<String>,
    /// The chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<String>,
    /// The thread in the chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
}
