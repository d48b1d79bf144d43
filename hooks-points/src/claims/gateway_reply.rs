//! The claim that answers a message.

use serde::{Deserialize, Serialize};

/// A claim that settles a message at the gateway, without a turn of the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GatewayReply {
    /// What to answer. Without it the message is settled in silence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

impl GatewayReply {
    /// Settles the message and answers it.
    pub fn text(reply: impl Into<String>) -> Self {
        Self { reply: Some(reply.into()) }
    }

    /// Settles the message and says nothing.
    pub const fn silent() -> Self {
        Self { reply: None }
    }
}
