//! The data that the agent and gateway points carry.
//!
//! Every type reads and writes the JSON of the Ethos wire: camel case but for
//! the few keys that are spelled otherwise there. Unknown keys are refused. An
//! optional field may be absent or `null`, which mean the same, and is written
//! only when it holds something.

mod acceptance;
mod attachment;
mod autonomy_tier;
mod background_job;
mod finish_reason;
mod goal_verdict;
mod inbound_message;
mod message_role;
mod model_message;
mod outbound_message;
mod personality;
mod rejection_reason;
mod stored_message;
mod token_usage;
mod tool_definition;
mod tool_result;

pub use acceptance::{AcceptanceCheck, AcceptanceRubric, AcceptanceSpec};
pub use attachment::{Attachment, AttachmentKind};
pub use autonomy_tier::AutonomyTier;
pub use background_job::{BackgroundJob, JobOrigin, JobStatus};
pub use finish_reason::FinishReason;
pub use goal_verdict::{CriterionResult, GoalVerdict};
pub use inbound_message::InboundMessage;
pub use message_role::MessageRole;
pub use model_message::{ModelContent, ModelMessage};
pub use outbound_message::{OutboundMessage, ParseMode};
pub use personality::Personality;
pub use rejection_reason::{EmptyReason, RejectionReason};
pub use stored_message::{StoredMessage, StoredToolCall};
pub use token_usage::TokenUsage;
pub use tool_definition::ToolDefinition;
pub use tool_result::{ToolErrorCode, ToolResult};
