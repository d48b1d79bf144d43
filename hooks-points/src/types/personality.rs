//! Who the agent is.

use serde::{Deserialize, Serialize};

/// Who the agent is for the length of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Personality {
    /// The personality's id.
    pub id: String,
    /// The name people see.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The tools it may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolset: Option<Vec<String>>,
    /// The model it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Who serves the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The platform it is made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The plugins whose handlers may take part in its turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<String>>,
}
