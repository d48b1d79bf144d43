//! Messages as they are sent to a model.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::MessageRole;

/// A message as it is sent to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelMessage {
    /// Who speaks.
    pub role: MessageRole,
    /// What is said.
    pub content: ModelContent,
}

/// What a [`ModelMessage`] says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ModelContent {
    /// Plain text.
    Text(String),
    /// Blocks in the form of the model's provider. Their kinds differ from one
    /// provider to the next, so they are carried as they are.
    Blocks(Vec<Map<String, Value>>),
}

impl From<String> for ModelContent {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for ModelContent {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
